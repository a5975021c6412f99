// SPDX-License-Identifier: Apache-2.0
//
// The translation unit that is compiled for a user's source: the source itself, then the kernel
// tables that it does not define.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "build/kernels.h"
#include "metadef/metadef.h"

namespace opwright::build {

// How the text of the assertion begins with which a function kernel that does not fit its metadef
// does not compile.
inline constexpr std::string_view kFunctionMisfit = "OPWRIGHT_FUNCTION(";

// kernels: those of this source that are to be built. operators: where a function kernel's
// signature is taken from.
Expected<std::string> WrapperText(const std::string& source, const std::vector<Kernel>& kernels,
                                  const std::vector<metadef::Operator>& operators);

}  // namespace opwright::build

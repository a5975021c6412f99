// SPDX-License-Identifier: Apache-2.0
//
// The translation unit that is compiled for a user's source: the source itself, then the kernel
// tables that it does not define.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "build/source_scan.h"
#include "metadef/metadef.h"

namespace opwright::build {

// kernels: those of this source that are to be built. operators: where a function kernel's
// signature is taken from.
Expected<std::string> WrapperText(const std::string& source, const std::vector<Kernel>& kernels,
                                  const std::vector<metadef::Operator>& operators);

}  // namespace opwright::build

// SPDX-License-Identifier: Apache-2.0
//
// dtypes and their names, as numpy spells them.
#pragma once

#include <string>
#include <string_view>

#include "opwright/c_api.h"

namespace opwright {

// With 0 bits when no metadef can list the name.
OpwrightDType DTypeNamed(std::string_view name);

// Of any dtype, whether a metadef can list it or not; a number without one is "an int number" ...
std::string DTypeName(OpwrightDType dtype);

}  // namespace opwright

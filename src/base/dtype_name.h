// SPDX-License-Identifier: Apache-2.0
//
// dtypes by their names.
#pragma once

#include <string_view>

#include "opwright/c_api.h"

namespace opwright {

// Of a name as numpy spells it; with 0 bits when no metadef can list it.
OpwrightDType DTypeNamed(std::string_view name);

}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
//
// How a metadef spells numbers of the C interface.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "opwright/c_api.h"

namespace opwright {

inline constexpr std::string_view kParamKinds[] = {"required", "optional", "dynamic"};
static_assert(kOpwrightRequired == 0 && kOpwrightOptional == 1 && kOpwrightDynamic == 2);

// By number; the first stands for an attribute that is not given.
inline constexpr std::string_view kAttrTypes[] = {
    "nothing",  "int",        "float",       "string",    "bool",         "type",
    "list_int", "list_float", "list_string", "list_bool", "list_list_int"};
static_assert(std::size(kAttrTypes) == kOpwrightAttrListListInt + 1);

constexpr std::string_view ParamKindName(int32_t kind) {
  return kParamKinds[static_cast<size_t>(kind)];
}

constexpr std::string_view AttrTypeName(int32_t type) {
  return type >= 0 && type <= kOpwrightAttrListListInt ? kAttrTypes[static_cast<size_t>(type)]
                                                       : "an unknown type";
}

}  // namespace opwright

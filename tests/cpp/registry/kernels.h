// SPDX-License-Identifier: Apache-2.0
//
// The kernels that the tests of this layer build: one library with every form.
#pragma once

#include <memory>
#include <string>

#include "base/text.h"
#include "metadef/testing.h"
#include "support/library.h"

namespace opwright::test {

using metadef::Float;
using metadef::Op;
using metadef::Param1;

inline std::string Attribute(std::string_view name, std::string_view type, std::string_view value) {
  return StrCat("{\"name\": \"", name, "\", \"type\": \"", type,
                "\", \"param_type\": \"optional\", \"default_value\": ", value, "}");
}

// A list of operators as one metadef file.
inline std::string Operators(const std::vector<std::string>& operators) {
  return StrCat("[", Join(operators, ",\n"), "]");
}

}  // namespace opwright::test

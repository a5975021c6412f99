// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of shape rules: "2 * n + ceil_div(x.dim(0), stride)" to the stack program of the C
// interface.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metadef/metadef.h"

namespace opwright::metadef {

// What names in a rule stand for.
struct RuleScope {
  std::span<const Param> inputs;
  std::span<const Attr> attrs;
  std::span<const std::string> symbols;
  // False: the name of an input or attribute could not be read. Any unknown name may be that one,
  // so that only its form is checked.
  bool complete = true;
  bool hints = true;  // whether an unknown name is compared with all that are known
};

// Bytes [begin, end) of the rule are wrong.
struct RuleError {
  std::string id;
  size_t begin = 0;
  size_t end = 0;
  std::string message;
  std::string hint;
};

// Appends the program that leaves the value of the expression. False: *error says why.
bool CompileExpression(std::string_view text, const RuleScope& scope, std::vector<int64_t>* code,
                       RuleError* error);

// All names that a rule may use, for suggestions.
std::vector<std::string> NamesInScope(const RuleScope& scope);

}  // namespace opwright::metadef

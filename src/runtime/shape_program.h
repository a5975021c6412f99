// SPDX-License-Identifier: Apache-2.0
//
// The stack programs of shape rules: what they compute, for the dispatcher, which knows all values,
// and for graph compilers, which do not.
#pragma once

#include <cstdint>
#include <optional>
#include <type_traits>

#include "base/shape_op.h"
#include "opwright/c_api.h"

namespace opwright {

// An instruction that gave no value.
struct MissingValue {
  int64_t op = 0;
  const int64_t* operands = nullptr;  // in the code, of one that reads a value
  int64_t a = 0, b = 0;  // of one that computes; -b is 0 - b
};

// Runs the rule's program on a stack of code_size values; returns how many are left: the dims.
// read(op, operands) gives the value of kOpwrightSymbol to kOpwrightRank, or nothing. On a stack of
// std::optional what is computed of nothing is nothing. On one of int64_t, which costs less, the
// first missing value ends the program: -1, and *missing says which.
template <class Value, class Read>
int32_t RunShapeProgram(const OpwrightShapeRule& rule, Value* stack, const Read& read,
                        MissingValue* missing) {
  constexpr bool kAllKnown = std::is_same_v<Value, int64_t>;
  int32_t top = 0;
  const int64_t* code = rule.code;
  const int64_t* const end = code + rule.code_size;
  while (code < end) {
    const int64_t op = *code++;
    if (op == kOpwrightPush) {
      stack[top++] = *code++;
      continue;
    }
    std::optional<int64_t> value;
    if (op <= kOpwrightRank) {
      value = read(op, code);
      if constexpr (kAllKnown) {
        if (!value.has_value()) {
          *missing = {op, code, 0, 0};
          return -1;
        }
      }
      code += op == kOpwrightDim ? 2 : 1;
    } else {
      const bool negates = op == kOpwrightNeg;
      const Value b = stack[--top];
      const Value a = negates ? Value{0} : stack[--top];
      const int64_t operation = negates ? int64_t{kOpwrightSub} : op;
      if constexpr (kAllKnown) {
        value = ApplyShapeOp(operation, a, b);
        if (!value.has_value()) {
          *missing = {op, nullptr, a, b};
          return -1;
        }
      } else if (a.has_value() && b.has_value()) {
        value = ApplyShapeOp(operation, *a, *b);
      }
    }
    if constexpr (kAllKnown)
      stack[top++] = *value;
    else
      stack[top++] = value;
  }
  return top;
}

}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
#include "runtime/shape_program.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace opwright {
namespace {

using Value = std::optional<int64_t>;

TEST(ShapeProgram, DivisionsAreThoseOfMathematics) {
  for (int64_t a = -7; a <= 7; ++a) {
    for (int64_t b = -4; b <= 4; ++b) {
      if (b == 0) continue;
      const double quotient = static_cast<double>(a) / static_cast<double>(b);
      const auto floor = static_cast<int64_t>(std::floor(quotient));
      EXPECT_EQ(ApplyShapeOp(kOpwrightFloorDiv, a, b), floor);
      EXPECT_EQ(ApplyShapeOp(kOpwrightCeilDiv, a, b), static_cast<int64_t>(std::ceil(quotient)));
      EXPECT_EQ(ApplyShapeOp(kOpwrightMod, a, b), a - floor * b);
    }
  }
}

TEST(ShapeProgram, WhatNoInt64IsHasNoValue) {
  EXPECT_EQ(ApplyShapeOp(kOpwrightAdd, INT64_MAX, 1), Value());
  EXPECT_EQ(ApplyShapeOp(kOpwrightSub, INT64_MIN, 1), Value());
  EXPECT_EQ(ApplyShapeOp(kOpwrightMul, INT64_MAX, 2), Value());
  for (const int64_t op : {kOpwrightFloorDiv, kOpwrightMod, kOpwrightCeilDiv}) {
    EXPECT_EQ(ApplyShapeOp(op, 5, 0), Value());
    EXPECT_EQ(ApplyShapeOp(op, INT64_MIN, -1), Value());
  }
  EXPECT_EQ(ApplyShapeOp(kOpwrightMin, INT64_MIN, INT64_MAX), INT64_MIN);
  EXPECT_EQ(ApplyShapeOp(kOpwrightMax, INT64_MIN, INT64_MAX), INT64_MAX);
}

// Symbols have their numbers as values; but 9 is not known.
template <class T>
int32_t RunProgram(const std::vector<int64_t>& code, std::vector<T>* stack,
                   MissingValue* missing = nullptr) {
  OpwrightShapeRule rule = {};
  rule.code = code.data();
  rule.code_size = static_cast<int64_t>(code.size());
  stack->assign(code.size(), T());
  const auto read = [](int64_t, const int64_t* operands) {
    return *operands == 9 ? std::nullopt : Value(*operands);
  };
  return RunShapeProgram(rule, stack->data(), read, missing);
}

TEST(ShapeProgram, GoesOnBehindWhatIsUnknown) {
  const std::vector<int64_t> code = {
      kOpwrightSymbol, 9, kOpwrightPush, 2, kOpwrightMul, kOpwrightNeg,
      kOpwrightSymbol, 4, kOpwrightNeg};
  std::vector<Value> stack;
  EXPECT_EQ(RunProgram(code, &stack), 2);
  EXPECT_EQ(stack[0], Value());
  EXPECT_EQ(stack[1], Value(-4));
}

TEST(ShapeProgram, OrSaysWhereItIs) {
  std::vector<int64_t> stack;
  MissingValue missing;
  const std::vector<int64_t> unknown = {kOpwrightPush, 1, kOpwrightSymbol, 9};
  EXPECT_EQ(RunProgram(unknown, &stack, &missing), -1);
  EXPECT_EQ(missing.op, kOpwrightSymbol);
  EXPECT_EQ(*missing.operands, 9);
  const std::vector<int64_t> division = {kOpwrightPush, 7, kOpwrightPush, 0, kOpwrightMod};
  EXPECT_EQ(RunProgram(division, &stack, &missing), -1);
  EXPECT_EQ(missing.op, kOpwrightMod);
  EXPECT_EQ(missing.a, 7);
  EXPECT_EQ(missing.b, 0);
  const std::vector<int64_t> negation = {kOpwrightPush, INT64_MIN, kOpwrightNeg};
  EXPECT_EQ(RunProgram(negation, &stack, &missing), -1);
  EXPECT_EQ(missing.op, kOpwrightNeg);
  EXPECT_EQ(missing.b, INT64_MIN);
}

}  // namespace
}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
#include "runtime/sum_to.h"

#include <gtest/gtest.h>

#include "support/tensor.h"

namespace opwright::test {
namespace {

std::vector<double> Summed(Tensor from, OpwrightDType dtype, Dims shape) {
  Tensor to(dtype, std::move(shape));
  to.Fill(-1);
  EXPECT_TRUE(SumsTo(from.raw(), to.raw()));
  EXPECT_TRUE(SumTo(from.raw(), to.raw()));
  return to.Values();
}

TEST(SumTo, AddsUpWhatBroadcastingRepeated) {
  Tensor x(kF32, {2, 3});  // 1 2 3 / 4 5 6
  EXPECT_EQ(Summed(x, kF32, {3}), (std::vector<double>{5, 7, 9}));
  EXPECT_EQ(Summed(x, kF32, {2, 1}), (std::vector<double>{6, 15}));
  EXPECT_EQ(Summed(x, kF64, {}), (std::vector<double>{21}));
  EXPECT_EQ(Summed(x, kF16, {1, 3}), (std::vector<double>{5, 7, 9}));
  EXPECT_EQ(Summed(x, kF32, {2, 3}), x.Values());
}

TEST(SumTo, OfNothingIsZero) {
  EXPECT_EQ(Summed(Tensor(kF32, {0, 3}), kF32, {3}), (std::vector<double>{0, 0, 0}));
  EXPECT_EQ(Summed(Tensor(kF32, {3, 0}), kF32, {1, 0}), std::vector<double>{});
}

TEST(SumTo, RoundsOnceAtTheEnd) {
  Tensor x(kBf16, {300});
  x.Fill(1);  // bfloat16 cannot count beyond 256 one by one
  EXPECT_EQ(Summed(x, kBf16, {}), (std::vector<double>{300}));
}

TEST(SumTo, KnowsWhatBroadcastingCannotHaveMade) {
  Tensor x(kF32, {2, 3});
  for (const Dims& shape : {Dims{2}, Dims{3, 1}, Dims{1, 2, 3}}) {
    Tensor to(kF32, shape);
    EXPECT_FALSE(SumsTo(x.raw(), to.raw()));
  }
}

TEST(SumTo, RefusesWhatHasNoFloatSum) {
  for (const OpwrightDType dtype : {kC64, kC128, kI64, kBool}) {
    Tensor x(dtype, {2, 3}), sums(kF64, {3}, {7, 7, 7}), same(dtype, {3}, {1, 1, 1});
    EXPECT_FALSE(SumTo(x.raw(), sums.raw()));
    EXPECT_FALSE(SumTo(x.raw(), same.raw()));
    EXPECT_EQ(sums.Values(), (std::vector<double>{7, 7, 7}));
    EXPECT_EQ(same.Values(), (std::vector<double>{1, 1, 1}));
  }
}

}  // namespace
}  // namespace opwright::test

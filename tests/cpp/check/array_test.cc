// SPDX-License-Identifier: Apache-2.0
#include "check/array.h"
#include "base/dtype_name.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/dtype.h"

namespace opwright::check {
namespace {

constexpr OpwrightDType kDTypes[] = {
    {kOpwrightFloat, 64, 1},  {kOpwrightFloat, 32, 1}, {kOpwrightFloat, 16, 1},
    {kOpwrightBfloat, 16, 1}, {kOpwrightInt, 8, 1},    {kOpwrightInt, 16, 1},
    {kOpwrightInt, 32, 1},    {kOpwrightInt, 64, 1},   {kOpwrightUInt, 8, 1},
    {kOpwrightUInt, 16, 1},   {kOpwrightUInt, 32, 1},  {kOpwrightUInt, 64, 1}};

TEST(Array, ReadsBackWhatWasSet) {
  for (OpwrightDType dtype : kDTypes) {
    Array array(dtype, {2, 3});
    for (int64_t k = 0; k < array.size(); ++k) array.Set(k, static_cast<double>(k));
    for (int64_t k = 0; k < array.size(); ++k)
      EXPECT_EQ(array.Get(k), static_cast<double>(k)) << DTypeName(dtype);
  }
}

TEST(Array, IndexOfAnElement) {
  EXPECT_EQ(IndexText({2, 3}, 5), "[1, 2]");
  EXPECT_EQ(IndexText({}, 0), "[]");
}

TEST(Fill, IntegersAreBelowTheLimit) {
  Random random(3);
  Array array({kOpwrightInt, 32, 1}, {1000});
  Fill(&array, Values::kNormal, 2, &random);
  for (int64_t k = 0; k < array.size(); ++k) EXPECT_TRUE(array.Get(k) == 0 || array.Get(k) == 1);
}

TEST(Fill, NormalValuesHaveMeanZeroAndVarianceOne) {
  Random random(4);
  Array array(kFloat64, {20000});
  Fill(&array, Values::kNormal, 1, &random);
  double sum = 0;
  double squares = 0;
  for (int64_t k = 0; k < array.size(); ++k) {
    sum += array.Get(k);
    squares += array.Get(k) * array.Get(k);
  }
  EXPECT_NEAR(sum / 20000, 0, 0.03);
  EXPECT_NEAR(squares / 20000, 1, 0.05);
}

TEST(MoveByOne, TheFirstElementBecomesTheLast) {
  Array array(kFloat32, {3});
  for (int64_t k = 0; k < 3; ++k) array.Set(k, static_cast<double>(k));
  MoveByOne(&array);
  EXPECT_EQ(array.Get(0), 1);
  EXPECT_EQ(array.Get(1), 2);
  EXPECT_EQ(array.Get(2), 0);
  Array empty(kFloat32, {0});
  MoveByOne(&empty);
  EXPECT_EQ(empty.size(), 0);
}

TEST(Fill, CotangentsAreNeverAllEqualNorNearZero) {
  Random random(5);
  Array array(kFloat64, {50});
  FillCotangent(&array, &random);
  bool differ = false;
  for (int64_t k = 0; k < array.size(); ++k) {
    EXPECT_GE(std::fabs(array.Get(k)), 0.5);
    EXPECT_LE(std::fabs(array.Get(k)), 1.5);
    differ = differ || array.Get(k) != array.Get(0);
  }
  EXPECT_TRUE(differ);
}

}  // namespace
}  // namespace opwright::check

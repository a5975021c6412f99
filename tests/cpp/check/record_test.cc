// SPDX-License-Identifier: Apache-2.0
#include "check/record.h"

#include <gtest/gtest.h>

#include <cmath>

namespace opwright::check {
namespace {

Difference Of(double error, double expected) {
  return {error, 1e-3, expected + error, expected, "[0]"};
}

TEST(SaysMore, TheLargerErrorAndOneOfWhatIsNotZero) {
  EXPECT_TRUE(SaysMore(Of(2, 1), Of(1, 1)));
  EXPECT_FALSE(SaysMore(Of(1, 1), Of(1, 1)));
  EXPECT_TRUE(SaysMore(Of(1, 1), Of(2, 0))) << "nobody sees a factor of zero";
  EXPECT_FALSE(SaysMore(Of(2, 0), Of(1, 1)));
  EXPECT_TRUE(SaysMore(Of(2, 0), Of(1, 0)));
  EXPECT_TRUE(SaysMore(Of(INFINITY, 1), Of(1e6, 1)));
}

TEST(SaysMore, WhatIsWrongBeforeWhatIsRight) {
  EXPECT_TRUE(SaysMore(Of(1, 0), Of(1e-4, 5)));
  EXPECT_FALSE(SaysMore(Of(1e-4, 5), Of(1, 0)));
  EXPECT_TRUE(SaysMore(Of(0, 1), Difference())) << "anything before nothing";
}

}  // namespace
}  // namespace opwright::check

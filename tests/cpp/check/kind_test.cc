// SPDX-License-Identifier: Apache-2.0
#include "check/kind.h"

#include <gtest/gtest.h>

#include <cmath>

namespace opwright::check {
namespace {

Suspect Make(Shape shape, std::vector<double> expected, std::vector<double> got) {
  Suspect suspect;
  suspect.shape = std::move(shape);
  suspect.expected = std::move(expected);
  suspect.got = std::move(got);
  suspect.tolerance = 1e-6;
  return suspect;
}

TEST(Kind, Zero) {
  EXPECT_EQ(LikelyKind(Make({2}, {1, 2}, {0, 0})), "zero: the gradient is never computed");
}

TEST(Kind, Sign) {
  EXPECT_EQ(LikelyKind(Make({2}, {1, 2}, {-1, -2})), "sign: it is the negative of what is right");
}

TEST(Kind, Factor) {
  EXPECT_EQ(LikelyKind(Make({2}, {1, -2}, {0.5, -1})),
            "missing factor: every element is 0.5 times what is right");
}

TEST(Kind, AFactorOfOneIsNone) { EXPECT_EQ(LikelyKind(Make({2}, {1, 2}, {1.00001, 2.00002})), ""); }

TEST(Kind, Transposed) {
  EXPECT_EQ(LikelyKind(Make({2, 3}, {1, 2, 3, 4, 5, 6}, {1, 4, 2, 5, 3, 6})),
            "transposed: the last two dimensions are exchanged");
}

TEST(Kind, Permuted) {
  EXPECT_EQ(LikelyKind(Make({3}, {1, 2, 4}, {2, 4, 1})), "the right numbers in other places");
}

TEST(Kind, Part) {
  EXPECT_EQ(LikelyKind(Make({2, 3}, {1, 2, 3, 4, 5, 6}, {1, 2, 0, 4, 5, 0})),
            "a part of it: index 2 of dimension 1 is zero, the rest is right");
}

TEST(Kind, Swapped) {
  Suspect suspect = Make({2}, {1, 2}, {7, -3});
  suspect.others = {{"bias", {7, -3}}};
  EXPECT_EQ(LikelyKind(suspect), "swapped inputs: it is the gradient of bias");
}

TEST(Kind, MissingTensorFactor) {
  Suspect suspect = Make({2, 2}, {2, 15, 6, 35}, {1, 3, 3, 7});
  suspect.factors = {{"scale", {2, 5}}};
  EXPECT_EQ(LikelyKind(suspect), "missing factor: times scale it would be right");
}

TEST(Kind, ResultsThatAreNotFiniteAreNotCalledZero) {
  EXPECT_EQ(LikelyKind(Make({2}, {1, 2}, {NAN, NAN})),
            "not finite: 2 of 2 elements are nan or infinite");
  EXPECT_EQ(LikelyKind(Make({2}, {1, 2}, {0, INFINITY})),
            "not finite: 1 of 2 elements is nan or infinite");
  EXPECT_EQ(LikelyKind(Make({2}, {0, 0}, {NAN, 0})),
            "not finite: 1 of 2 elements is nan or infinite");
}

// Each is within the tolerance that tells one mistake from another, not within that of the check.
TEST(Kind, OfWhatIsSlightlyOffNothingIsGuessed) {
  Suspect suspect = Make({2, 2}, {1, 2, 3, 4}, {1.003, 1.999, 3.002, 3.997});
  suspect.tolerance = 1e-2;
  suspect.others = {{"bias", {1.004, 1.998, 3.001, 3.998}}};
  EXPECT_EQ(LikelyKind(suspect), "");
}

TEST(Kind, AFactorNearOneMustExplainTheError) {
  Suspect suspect = Make({4}, {1, 2, 3, 4}, {1.004, 2.008, 3.012, 4.016});
  suspect.tolerance = 1e-2;
  EXPECT_EQ(LikelyKind(suspect), "missing factor: every element is 1.004 times what is right");
  suspect.got = {1.004, 2.001, 3.002, 4.016};
  EXPECT_EQ(LikelyKind(suspect), "");
}

// x * rsqrt(x * x + eps): at zero each mistake in eps is a common factor, and one of x a zero.
TEST(Kind, AtAnInputOfZerosNothingIsGuessed) {
  Suspect suspect = Make({3}, {1, -2, 3}, {0.5, -1, 1.5});
  suspect.input = {0, 0, 0};
  EXPECT_EQ(LikelyKind(suspect), "");
  suspect.got = {0, 0, 0};
  EXPECT_EQ(LikelyKind(suspect), "");
  suspect.input = {0, 1, 0};
  EXPECT_EQ(LikelyKind(suspect), "zero: the gradient is never computed");
}

TEST(Kind, ZerosInAPartOfIt) {
  EXPECT_EQ(LikelyKind(Make({2, 2}, {1, 2, 3, 4}, {1, 0, 0, 4})),
            "a part of it: 2 elements zero, the rest is right");
}

TEST(Kind, NothingFits) { EXPECT_EQ(LikelyKind(Make({3}, {1, 2, 3}, {5, -1, 9})), ""); }

}  // namespace
}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
#include "check/kind.h"

#include <gtest/gtest.h>

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

TEST(Kind, NothingFits) { EXPECT_EQ(LikelyKind(Make({3}, {1, 2, 3}, {5, -1, 9})), ""); }

}  // namespace
}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/sha256.h"

namespace opwright {
namespace {

TEST(SnakeCase, SplitsWordsAndKeepsAbbreviations) {
  EXPECT_EQ(SnakeCase("ElementAdd"), "element_add");
  EXPECT_EQ(SnakeCase("RMSNorm"), "rms_norm");
  EXPECT_EQ(SnakeCase("FusedAddScaleGrad"), "fused_add_scale_grad");
  EXPECT_EQ(SnakeCase("Conv2d"), "conv2d");
  EXPECT_EQ(SnakeCase("already_snake"), "already_snake");
}

TEST(Nearest, FindsASlipAndNothingFarAway) {
  const std::vector<std::string> names = {"element_add", "element_mul"};
  EXPECT_EQ(Nearest("elment_add", names), "element_add");
  EXPECT_EQ(Nearest("softmax", names), "");
  const std::vector<std::string> attributes = {"x", "eps", "axis"};
  EXPECT_EQ(Nearest("esp", attributes), "eps") << "two letters exchanged are one slip";
  EXPECT_EQ(Nearest("axsi", attributes), "axis");
  EXPECT_EQ(Nearest("spe", attributes), "");
  const std::vector<std::string> short_names = {"x", "n"};
  EXPECT_EQ(Nearest("m", short_names), "") << "no letter is the same";
  EXPECT_EQ(Nearest("N", short_names), "n");
  EXPECT_EQ(Nearest("x1", short_names), "x");
}

TEST(JsonQuote, EscapesControlsAndReplacesBrokenUtf8) {
  EXPECT_EQ(JsonQuote("a\"\\\n\x01 算\xff"), "\"a\\\"\\\\\\n\\u0001 算\xef\xbf\xbd\"");
}

TEST(HexOf, WritesTwoDigitsForEachByte) {
  EXPECT_EQ(HexOf(std::string_view("\x00\x0f\xa5\xff", 4)), "000fa5ff");
  EXPECT_EQ(HexOf(""), "");
}

TEST(IsReordered, IsSoOfOneSetOfNamesInTwoOrders) {
  const std::vector<std::string> names = {"x", "y", "z"};
  EXPECT_TRUE(IsReordered(names, std::vector<std::string>{"y", "x", "z"}));
  EXPECT_FALSE(IsReordered(names, names));
  EXPECT_FALSE(IsReordered(names, std::vector<std::string>{"y", "x"}));
  EXPECT_FALSE(IsReordered(names, std::vector<std::string>{"x", "y", "w"}));
  EXPECT_FALSE(IsReordered({}, {}));
}

TEST(Demangle, LeavesWhatIsNotMangled) {
  EXPECT_EQ(Demangle("_Z6helperi"), "helper(int)");
  EXPECT_EQ(Demangle("helper"), "helper");
}

TEST(ValidUtf8, ReplacesEachByteThatIsNoUtf8) {
  EXPECT_EQ(ValidUtf8("算é\n\x01"), "算é\n\x01");
  EXPECT_EQ(ValidUtf8("a\xff\xe5\x8a"), "a\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(ValidUtf8(""), "");
}

TEST(Sha256, EqualsTheStandardsExample) {  // FIPS 180-4, "abc"
  EXPECT_EQ(Sha256Hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace opwright

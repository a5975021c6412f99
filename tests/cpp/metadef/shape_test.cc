// SPDX-License-Identifier: Apache-2.0
#include "testing.h"

namespace opwright::metadef {
namespace {

std::string Shaped(std::string_view shape) {
  return Op(Float("x", shape), Float("y"), ", \"shape_rule\": \"same(x)\"");
}

Shape Parsed(std::string_view shape) { return Good(Shaped(shape))[0].inputs[0].shape; }

TEST(Shape, KindsOfEntries) {
  EXPECT_EQ(Parsed("[-2]"), (Shape{true, {}}));
  EXPECT_EQ(Parsed("[]"), (Shape{false, {}}));
  EXPECT_EQ(Parsed("[-1]"), (Shape{false, {{-1, ""}}}));
  EXPECT_EQ(Parsed("[0]"), (Shape{false, {{0, ""}}}));
  EXPECT_EQ(Parsed(R"(["n", 3, -1])"), (Shape{false, {{-1, "n"}, {3, ""}, {-1, ""}}}));
  EXPECT_EQ(Parsed(R"(["...", "n"])"), (Shape{true, {{-1, "n"}}}));
  EXPECT_EQ(Parsed(R"(["..."])"), (Shape{true, {}}));
}

TEST(Shape, WrongEntriesAreNamed) {
  EXPECT_EQ(Ids(Shaped("-1")), std::vector<std::string>{"MD007"});
  EXPECT_EQ(Ids(Shaped("\"n\"")), std::vector<std::string>{"MD007"});
  EXPECT_EQ(Ids(Shaped("[-2, 3]")), std::vector<std::string>{"MD021"});
  EXPECT_EQ(Ids(Shaped("[3, \"...\"]")), std::vector<std::string>{"MD022"});
  EXPECT_EQ(Ids(Shaped("[\"min\"]")), std::vector<std::string>{"MD012"});
  for (const char* shape : {"[\"-1\"]", "[-3]", "[1.5]", "[true]", "[null]", "[[1]]", "[\"\"]",
                            "[\"a b\"]", "[9223372036854775808]"})
    EXPECT_EQ(Ids(Shaped(shape)), std::vector<std::string>{"MD020"}) << shape;
}

TEST(Shape, ANumberInQuotesIsToldFromAName) {
  const std::string text = Only(Shaped("[\"-1\"]"));
  EXPECT_NE(text.find("a number in quotes"), text.npos) << text;
  EXPECT_NE(text.find("write -1 without quotes"), text.npos) << text;
}

TEST(Shape, AtMost32Dimensions) {
  std::string dims = "1";
  for (int i = 1; i < 32; ++i) dims += ",1";
  EXPECT_EQ(Ids(Shaped(StrCat("[", dims, "]"))), std::vector<std::string>());
  EXPECT_EQ(Ids(Shaped(StrCat("[\"...\",", dims, "]"))), std::vector<std::string>());
  EXPECT_EQ(Ids(Shaped(StrCat("[", dims, ",1]"))), std::vector<std::string>{"MD020"});
}

}  // namespace
}  // namespace opwright::metadef

// SPDX-License-Identifier: Apache-2.0
#include "base/dtype_name.h"
#include "testing.h"

namespace opwright::metadef {
namespace {

TEST(Read, AllProblemsInOnePassInTheOrderOfTheFile) {
  const std::string text = R"json({
  "op_name": "ElementAdd",
  "op_type": "custom",
  "input_desc": [
    {"name": "x", "dtype": ["Float32"], "shape": [-2, 3]},
    {"name": "self", "dtypes": ["float32"], "shape": -1}
  ],
  "output_desc": [],
  "attr": [{"name": "eps", "type": "int", "default_value": "1"}],
  "shape_rule": "same(x)",
  "mutates": ["w"],
  "side_effect": 1
})json";
  EXPECT_EQ(Places(text),
            (std::vector<std::string>{"2:14 MD011", "3:14 MD008", "5:29 MD015", "5:51 MD021",
                                      "6:5 MD006", "6:14 MD012", "6:22 MD005", "6:54 MD007",
                                      "8:18 MD019", "9:60 MD025", "11:15 MD032", "12:18 MD007"}));
}

TEST(Read, ColumnsAreCodePoints) {
  // The object, the key and the value each at their place.
  EXPECT_EQ(Places(R"({"ключ": 1, "op_name": "算子"})"),
            (std::vector<std::string>{"1:1 MD006", "1:1 MD006", "1:2 MD005", "1:24 MD011"}));
  EXPECT_EQ(Read(R"({"ключ": 1, "op_name": "算子"})", "t.json").diagnostics[3].length, 4);
}

TEST(Read, AListKeepsItsRightOperators) {
  const ReadResult result =
      Read("[" + Op(Float("x"), Float("y"), "", "a") + "," + Op(Float("x"), "", "", "b") + "]",
           "t.json");
  ASSERT_EQ(result.operators.size(), 1u);
  EXPECT_EQ(result.operators[0].name, "a");
  EXPECT_EQ(result.diagnostics.size(), 1u);
  EXPECT_EQ(result.diagnostics[0].message.substr(0, 15), "[1].output_desc");
}

TEST(Read, NamesOfOneFileAreUnique) {
  EXPECT_EQ(Ids("[" + Op(Float("x"), Float("y")) + "," + Op(Float("x"), Float("y")) + "]"),
            std::vector<std::string>{"MD014"});
}

TEST(Read, AnOperatorKeepsItsOwnText) {
  const std::string own = Op(Float("x"), Float("y"));
  EXPECT_EQ(Good("[ " + own + " ]")[0].json, own);
}

TEST(Read, RootsThatAreNoOperator) {
  for (const char* text : {"[]", "3", "\"a\"", "null", "[1]", "[[]]"})
    EXPECT_EQ(Ids(text), std::vector<std::string>{"MD010"}) << text;
}

TEST(Read, KeysThatStandTwice) {
  EXPECT_EQ(Ids(Op(Float("x"), Float("y"), R"(, "op_name": "b")")),
            std::vector<std::string>{"MD004"});
  EXPECT_EQ(Ids(Op(Float("x", "[-2]", R"(, "shape": [1])"), Float("y"))),
            std::vector<std::string>{"MD004"});
  EXPECT_EQ(Ids(Op(Float("x"), Float("y"), R"(, "shape_rule": {"y": "kernel", "y": "kernel"})")),
            std::vector<std::string>{"MD004"});
}

TEST(Read, LimitsAreErrors) {
  EXPECT_EQ(Ids(std::string(64, '[') + std::string(64, ']')), std::vector<std::string>{"MD010"});
  EXPECT_EQ(Ids(std::string(65, '[') + std::string(65, ']')), std::vector<std::string>{"MD003"});
  EXPECT_EQ(Ids(std::string(200000, '[')), std::vector<std::string>{"MD003"});
  EXPECT_EQ(Ids(std::string((16u << 20) + 1, ' ')), std::vector<std::string>{"MD003"});
  std::string many = "[0";
  for (int i = 0; i < 1000000; ++i) many += ",0";
  EXPECT_EQ(Ids(many + "]"), std::vector<std::string>{"MD003"});
}

TEST(Read, DTypes) {
  EXPECT_EQ(CanonicalDType("fp16"), "float16");
  EXPECT_EQ(CanonicalDType("Float32"), "");
  EXPECT_EQ(DTypeNamed("complex128").bits, 128);
  EXPECT_EQ(DTypeNamed("bool").code, kOpwrightBool);
  EXPECT_EQ(DTypeNamed("fp16").bits, 0);
}

TEST(Read, AZeroByteIsNoEnd) {
  const std::string good = Op(Float("x"), Float("y"));
  for (const std::string& after : {std::string(1, '\0'), std::string("\0 trailing", 10)}) {
    const ReadResult result = Read(good + "\n" + after, "t.json");
    ASSERT_EQ(result.diagnostics.size(), 1u);
    EXPECT_EQ(Render(result.diagnostics[0]),
              "t.json:2:1: error: not JSON: there is a zero byte; remove it and what else is no "
              "text [MD002]");
    EXPECT_TRUE(result.operators.empty());
  }
  std::string inside = good;
  inside[1] = '\0';
  EXPECT_EQ(Places(inside), std::vector<std::string>{"1:2 MD002"});
}

TEST(Read, ColumnsOfALongLineAreCounted) {
  // Several steps of the index, with letters of two bytes across them.
  std::string text = "{";
  for (int k = 0; k < 300; ++k) text += StrCat("\"\u00e9", k, "\": 1, ");
  text += "\"op_name\": 3}";
  const ReadResult result = Read(text, "t.json");
  EXPECT_EQ(result.diagnostics.back().id, "MD007");
  // 1 + 300 times 8 and the digits + "op_name": and a space
  EXPECT_EQ(result.diagnostics.back().column, 1 + 300 * 8 + 10 + 2 * 90 + 3 * 200 + 12);
}

TEST(Read, OfManyProblemsTheFirstHundredHaveHints) {
  std::string mutates;
  for (int k = 0; k < 300; ++k) mutates += StrCat(k > 0 ? ", " : "", "\"xx", k % 10, "\"");
  const ReadResult result =
      Read(Op(Float("x0"), Float("y"), StrCat(", \"mutates\": [", mutates, "]")), "t.json");
  ASSERT_EQ(result.diagnostics.size(), 300u);
  EXPECT_EQ(result.diagnostics[0].hint, "write \"x0\"");
  EXPECT_EQ(result.diagnostics[99].hint, "inputs are x0");
  EXPECT_EQ(result.diagnostics[100].hint, "");
}

}  // namespace
}  // namespace opwright::metadef

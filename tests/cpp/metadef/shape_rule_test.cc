// SPDX-License-Identifier: Apache-2.0
#include "testing.h"

namespace opwright::metadef {
namespace {

using Args = std::vector<int32_t>;
using Program = std::vector<int64_t>;

// Inputs a (n, m), b (n, m), c (any rank); one output y.
std::string Rule(std::string_view rule, std::string_view output = "[-2]") {
  return Op(Float("a", R"(["n", "m"])") + "," + Float("b", R"(["n", "m"])") + "," + Float("c"),
            Float("y", output), StrCat(", \"shape_rule\": ", rule));
}

std::string Absent(std::string_view inputs, std::string_view output) {
  return Op(inputs, Float("y", output));
}

TEST(ShapeRule, NamedRules) {
  const ShapeRule same = Good(Rule("\"same(a, b)\""))[0].shape_rules[0];
  EXPECT_EQ(same.kind, kOpwrightShapeSame);
  EXPECT_EQ(same.args, (Args{0, 1}));
  EXPECT_EQ(same.text, "same(a, b)");
  const ShapeRule broadcast = Good(Rule("\" broadcast( c,a ) \""))[0].shape_rules[0];
  EXPECT_EQ(broadcast.kind, kOpwrightShapeBroadcast);
  EXPECT_EQ(broadcast.args, (Args{2, 0}));
  EXPECT_EQ(Good(Rule("\"kernel\""))[0].shape_rules[0].kind, kOpwrightShapeKernel);
}

TEST(ShapeRule, ForwardTakesTheOwnInputOfThatNameIfThereIsOne) {
  const std::string grad =
      Op(Float("grad_y") + "," + Float("x"), Float("grad_x") + "," + Float("grad_w"),
         R"(, "shape_rule": "forward")");
  const Operator op = Good(grad)[0];
  EXPECT_EQ(op.shape_rules[0].kind, kOpwrightShapeForward);
  EXPECT_EQ(op.shape_rules[0].args, Args{1});
  EXPECT_EQ(op.shape_rules[1].args, Args());
}

TEST(ShapeRule, ListsOfDimensions) {
  const ShapeRule rule = Good(Rule(R"(["...", "n*2", 3, "c.rank"])"))[0].shape_rules[0];
  EXPECT_EQ(rule.kind, kOpwrightShapeDims);
  EXPECT_TRUE(rule.leading_any);
  EXPECT_EQ(rule.code, (Program{kOpwrightSymbol, 0, kOpwrightPush, 2, kOpwrightMul, kOpwrightPush,
                                3, kOpwrightRank, 2}));
  EXPECT_EQ(Good(Rule("[]"))[0].shape_rules[0].code, Program());
}

TEST(ShapeRule, OneForEachOutput) {
  const std::string text = Op(Float("x", R"(["n"])"), Float("y", R"(["n"])") + "," + Float("z"),
                              R"(, "shape_rule": {"z": ["n + 1"]})");
  const Operator op = Good(text)[0];
  EXPECT_EQ(op.shape_rules[0].kind, kOpwrightShapeSame);
  EXPECT_EQ(op.shape_rules[1].kind, kOpwrightShapeDims);
}

TEST(ShapeRule, AbsentFollowsTheInputsWithTheSameList) {
  const ShapeRule any =
      Good(Absent(Float("x") + "," + Float("w", "[-1]") + "," + Float("b"), "[-2]"))[0]
          .shape_rules[0];
  EXPECT_EQ(any.kind, kOpwrightShapeSame);
  EXPECT_EQ(any.args, (Args{0, 2}));
  const ShapeRule dims = Good(Absent(
      Float("x", R"(["n", "k"])") + "," + Float("w", R"(["k", "m"])"), R"(["n", "m"])"))[0]
                             .shape_rules[0];
  EXPECT_EQ(dims.kind, kOpwrightShapeDims);
  EXPECT_EQ(dims.code, (Program{kOpwrightSymbol, 0, kOpwrightSymbol, 2}));
  EXPECT_EQ(Good(Absent(Float("x"), "[]"))[0].shape_rules[0].code, Program());
  EXPECT_EQ(Good(Absent(Float("x"), "[2, 0]"))[0].shape_rules[0].code,
            (Program{kOpwrightPush, 2, kOpwrightPush, 0}));
}

TEST(ShapeRule, AbsentAndUndecidedIsAnError) {
  for (const char* shape : {"[-1]", "[\"q\"]", "[\"n\", -1]", "[\"...\", \"n\"]"})
    EXPECT_EQ(Ids(Absent(Float("x", R"(["n"])") + "," + Float("w"), shape)),
              std::vector<std::string>{"MD030"})
        << shape;
  EXPECT_EQ(Ids(Absent(Float("x", "[-1]", R"(, "param_type": "optional")"), "[-1]")),
            std::vector<std::string>{"MD030"});
}

TEST(ShapeRule, ErrorsStandAtTheirPlace) {
  const std::string head = "{\"op_name\": \"t\", \"input_desc\": [" + Float("x", R"(["n"])") +
                           "], \"output_desc\": [" + Float("y") + "],\n\"shape_rule\": ";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"\"same(z)\"", "2:21 MD028"},
      {"\"sme(x)\"", "2:16 MD029"},
      {"\"same(x, x)\"", "2:24 MD029"},
      {"\"same(x) y\"", "2:24 MD029"},
      {"\"same(x\"", "2:22 MD029"},
      {"\"same()\"", "2:21 MD029"},
      {"[\"n + q\"]", "2:21 MD028"},
      {"[\"\\u006e + q\"]", "2:26 MD028"},
      {"[\"é\"]", "2:17 MD027"},
      {"[1, \"...\", 2]", "2:19 MD022"},
      {"[\"...\"]", "2:16 MD022"},
      {"[-1]", "2:16 MD020"},
      {"3", "2:15 MD007"},
      {"{\"y\": 3}", "2:21 MD007"},
      {"{\"yy\": \"kernel\"}", "2:16 MD028"},
      {"\"n + 1\"", "2:16 MD029"}};
  for (const auto& [rule, place] : cases) {
    const std::vector<std::string> places = Places(StrCat(head, rule, "}"));
    ASSERT_FALSE(places.empty()) << rule;
    EXPECT_EQ(places.back(), place) << rule;
  }
}

// What does not hang on the name is said in the same pass.
TEST(ShapeRule, IsCheckedBesideAnInputWithoutAName) {
  const auto ids = [](std::string_view rule) {
    const std::string inputs = StrCat(Float("x", "[-1, \"n\"]"), R"(, {"dtype": ["float32"],
                                      "shape": [-2]})");
    std::vector<std::string> found =
        Ids(Op(inputs, Float("y"), rule.empty() ? "" : StrCat(", \"shape_rule\": ", rule)));
    EXPECT_FALSE(found.empty());
    if (!found.empty()) found.erase(found.begin());  // the missing name itself
    return found;
  };
  using Found = std::vector<std::string>;
  EXPECT_EQ(ids(R"j("same(x)")j"), Found());
  EXPECT_EQ(ids(R"j("same(w)")j"), Found()) << "w may be the name that is missing";
  EXPECT_EQ(ids(R"j("same(x, x)")j"), Found{"MD029"});
  EXPECT_EQ(ids(R"j("same(x")j"), Found{"MD029"});
  EXPECT_EQ(ids(R"j("some(x)")j"), Found{"MD029"});
  EXPECT_EQ(ids("7"), Found{"MD007"});
  EXPECT_EQ(ids(R"j(["n", "w.dim(0)", "w.rank + 1", "x.dim(1)", "k"])j"), Found());
  EXPECT_EQ(ids(R"j(["x.dim(2)"])j"), Found{"MD028"});
  EXPECT_EQ(ids(R"j(["w.size", "n +", -1, "..."])j"), (Found{"MD027", "MD027", "MD020", "MD022"}));
  EXPECT_EQ(ids(R"j({"y": "same(x", "z": "same(x)"})j"), (Found{"MD029", "MD028"}));
  EXPECT_EQ(ids(""), Found()) << "the shape list of the input without a name";
}

TEST(ShapeRule, AnExpressionAloneIsAnsweredWithTheList) {
  const std::string text = Only(Rule("\"n + 1\""));
  EXPECT_NE(text.find("write [\"n + 1\"]"), text.npos) << text;
}

TEST(ShapeRule, ADimensionAndAnAttributeOfOneNameAreRefused) {
  EXPECT_EQ(Ids(Op(Float("x", R"(["n"])"), Float("y", R"(["n"])"),
                   R"(, "attr": [{"name": "n", "type": "int"}])")),
            (std::vector<std::string>{"MD031", "MD031"}));
}

}  // namespace
}  // namespace opwright::metadef

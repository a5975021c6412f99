// SPDX-License-Identifier: Apache-2.0
//
// Outputs' shapes by every kind of rule.
#include <gtest/gtest.h>

#include "base/text.h"
#include "metadef/testing.h"
#include "support/test_op.h"

namespace opwright::test {
namespace {

using metadef::Float;

constexpr const char* kAttrs =
    R"(, "attr": [{"name": "a", "type": "int", "param_type": "optional", "default_value": 7},
                  {"name": "b", "type": "int", "param_type": "optional", "default_value": 2}])";

// One output whose dims are `rule`, with x of the shape given and two attributes a and b.
std::string ByRule(const std::string& rule, Dims shape, int64_t a = 7, int64_t b = 2) {
  TestOp op(metadef::Op(Float("x"), Float("z"), StrCat(kAttrs, ", \"shape_rule\": ", rule), "f"));
  Tensor x(kF32, std::move(shape));
  return op.Infer({x}, {IntAttr(a), IntAttr(b)});
}

// What a rule gives an output whose own shape list is `list`.
std::string Listed(const std::string& list, const std::string& rule, Dims x_shape,
                   const std::string& x_list = "[-2]", const std::string& more_outputs = "") {
  TestOp op(metadef::Op(Float("x", x_list), Float("z", list) + more_outputs,
                        StrCat(", \"shape_rule\": ", rule), "f"));
  Tensor x(kF32, std::move(x_shape));
  return op.Infer({x});
}

TEST(ShapeRule, DotsAreThoseBeforeDimsElseTheFirstInputOfAnyRank) {
  const auto dots = [](const char* x, const char* y, Dims x_shape, Dims y_shape) {
    TestOp op(metadef::Op(Float("x", x) + ", " + Float("y", y), Float("z"),
                          R"j(, "shape_rule": ["...", 4])j", "f"));
    Tensor given(kF32, std::move(x_shape)), other(kF32, std::move(y_shape));
    return op.Infer({given, other});
  };
  const char* const any = R"(["..."])";
  EXPECT_EQ(dots(any, "[-1]", {2, 3}, {5}), "float32[2, 3, 4]");
  EXPECT_EQ(dots(any, "[-1]", {}, {5}), "float32[4]");
  EXPECT_EQ(dots("[-2]", any, {2}, {5}), "float32[2, 4]");
  EXPECT_EQ(dots(any, R"(["...", "n"])", {2}, {5, 6, 7}), "float32[5, 6, 4]");
  EXPECT_EQ(dots(R"(["...", "n"])", any, {5, 6}, {2}), "float32[5, 4]");
}

TEST(OutputList, IsHeldAgainstTheShapeThatEveryRuleGives) {
  const std::string same = "\"same(x)\"", broadcast = "\"broadcast(x)\"";
  const std::string dims = R"j(["x.dim(0)", "x.dim(-1)"])j";
  for (const std::string& rule : {same, broadcast, dims}) {
    EXPECT_EQ(Listed("[-1, 3]", rule, {2, 3}), "float32[2, 3]") << rule;
    const std::string text = rule == dims ? dims : rule.substr(1, rule.size() - 2);
    const std::string start =
        StrCat("f: the shape of output z by ", text, " is [2, 3], its shape ");
    EXPECT_EQ(Listed("[-1, 4]", rule, {2, 3}), start + "list says [-1, 4] [CL022]");
    if (rule != dims) {  // whose rank is known when it is read
      EXPECT_EQ(Listed("[-1]", rule, {2, 3}),
                start + "list says [-1]; [-1] is rank 1, write [-2] for any rank [CL022]");
    }
    EXPECT_EQ(Listed(R"(["...", "n"])", rule, {2, 3}, R"(["n", -1])"),
              start + "list says [\"...\", \"n\"] [CL022]");
    EXPECT_EQ(Listed(R"(["...", "n"])", rule, {3, 3}, R"(["n", -1])"), "float32[3, 3]");
  }
}

TEST(OutputList, ASymbolOfOutputsAloneMustAgreeAmongThem) {
  const std::string both = ", " + Float("w", R"(["m"])");
  const auto rule = [](const std::string& w) {
    return StrCat(R"j({"z": ["x.dim(0)"], "w": [)j", w, "]}");
  };
  EXPECT_EQ(Listed(R"(["m"])", rule(R"j("x.dim(0)")j"), {3}, "[-2]", both),
            "float32[3]; float32[3]");
  EXPECT_EQ(Listed(R"(["m"])", rule("4"), {3}, "[-2]", both),
            "f: the shape of output w by [4] is [4], its shape list says [\"m\"] [CL022]");
}

TEST(OutputList, OfAGradientIsHeldAgainstTheForwardInput) {
  TestOp op(metadef::Op(Float("grad_z"), Float("grad_x", "[-1, 3]"),
                        R"j(, "shape_rule": "forward")j", "f"));
  Tensor grad(kF32, {2}), right(kF32, {2, 3}), wrong(kF32, {2, 4});
  EXPECT_EQ(op.Run({grad}, {right}), "");
  EXPECT_EQ(op.Run({grad}, {wrong}),
            "f: the shape of output grad_x by forward is [2, 4], its shape list says [-1, 3] "
            "[CL022]");
}

TEST(OutputList, IsHeldAgainstTheShapeOnTheShortWayToo) {
  TestOp op(metadef::Op(Float("x", "[-1, -1]"), Float("z", "[-1, 3]"),
                        R"j(, "shape_rule": "same(x)")j", "f"));
  Tensor x(kF32, {2, 3}), z(kF32, {2, 3}), other(kF32, {2, 4}), other_z(kF32, {2, 4});
  EXPECT_EQ(op.Run({x}, {z}), "");
  EXPECT_EQ(op.Run({other}, {other_z}),
            "f: the shape of output z by same(x) is [2, 4], its shape list says [-1, 3] [CL022]");
}

TEST(DimsRule, NumbersDimsAndRank) {
  EXPECT_EQ(ByRule("[2, 3]", {9}), "float32[2, 3]");
  EXPECT_EQ(ByRule(R"j(["x.dim(0)", "x.dim(-1)", "x.rank"])j", {4, 5, 6}), "float32[4, 6, 3]");
  EXPECT_EQ(ByRule("[]", {4}), "float32[]");
  EXPECT_EQ(ByRule(R"j(["x.dim(2)"])j", {4, 5}),
            "f: the shape of output z by [\"x.dim(2)\"]: x.dim(2) of shape [4, 5] [CL005]");
}

TEST(DimsRule, ArithmeticIsThatOfPython) {
  EXPECT_EQ(ByRule(R"(["a + b", "a - b", "a * b", "a // b", "a % b"])", {1}),
            "float32[9, 5, 14, 3, 1]");
  EXPECT_EQ(ByRule(R"j(["min(a, b)", "max(a, b)", "ceil_div(a, b)"])j", {1}), "float32[2, 7, 4]");
  // -7 // 2 = -4, -7 % 2 = 1, 7 // -2 = -4, 7 % -2 = -1, ceil(-7 / 2) = -3, ceil(7 / -2) = -3
  EXPECT_EQ(ByRule(R"(["a // b + 4", "a % b", "ceil_div(a, b) + 3"])", {1}, -7, 2),
            "float32[0, 1, 0]");
  EXPECT_EQ(ByRule(R"(["a // b + 4", "a % b + 1", "ceil_div(a, b) + 3"])", {1}, 7, -2),
            "float32[0, 0, 0]");
  EXPECT_EQ(ByRule(R"j(["a // b", "a % b", "ceil_div(a, b)"])j", {1}, -8, -2), "float32[4, 0, 4]");
  EXPECT_EQ(ByRule(R"(["-a + 9"])", {1}), "float32[2]");
}

TEST(DimsRule, ANegativeResultIsAnErrorWithTheValue) {
  EXPECT_EQ(ByRule(R"(["b - a"])", {1}),
            "f: the shape of output z by [\"b - a\"]: dimension 0 would be -5 [CL005]");
}

TEST(DimsRule, DivisionByZeroIsAnErrorWithTheValue) {
  for (const char* rule : {R"(["a // b"])", R"(["a % b"])", R"j(["ceil_div(a, b)"])j"}) {
    const std::string text = ByRule(rule, {1}, 7, 0);
    EXPECT_NE(text.find("division of 7 by 0 [CL005]"), text.npos) << text;
  }
}

TEST(DimsRule, OverflowIsAnErrorWithTheValues) {
  constexpr int64_t kMost = INT64_MAX;
  EXPECT_NE(
      ByRule(R"(["a + b"])", {1}, kMost, 1).find("overflow with 9223372036854775807 and 1 [CL005]"),
      std::string::npos);
  EXPECT_NE(
      ByRule(R"(["a - b"])", {1}, INT64_MIN, 1).find("overflow with -9223372036854775808 and 1"),
      std::string::npos);
  EXPECT_NE(ByRule(R"(["a * b"])", {1}, kMost, 2).find("overflow with 9223372036854775807 and 2"),
            std::string::npos);
  EXPECT_NE(ByRule(R"(["a // b"])", {1}, INT64_MIN, -1).find("CL005"), std::string::npos);
  EXPECT_NE(ByRule(R"(["-a"])", {1}, INT64_MIN).find("overflow with -9223372036854775808"),
            std::string::npos);
  EXPECT_EQ(ByRule(R"(["ceil_div(a, b) + 4611686018427387904"])", {1}, INT64_MIN, 2), "float32[0]");
}

TEST(DimsRule, AShapeThatNoMemoryCanHoldIsAnError) {
  const std::string text = ByRule(R"(["a", "a"])", {1}, int64_t{1} << 40);
  EXPECT_NE(text.find("[CL005]"), text.npos) << text;
  EXPECT_NE(text.find("[1099511627776, 1099511627776]"), text.npos) << text;
}

TEST(DimsRule, LeadingDotsCarryTheDimensionsInFront) {
  TestOp op(metadef::Op(Float("x", R"(["...", "n"])"), Float("z", R"(["...", -1])"),
                        R"(, "shape_rule": ["...", "2 * n"])", "f"));
  Tensor vector(kF32, {3}), cube(kF32, {4, 5, 3});
  EXPECT_EQ(op.Infer({vector}), "float32[6]");
  EXPECT_EQ(op.Infer({cube}), "float32[4, 5, 6]");
}

TEST(DimsRule, MoreDimensionsThanATensorMayHaveAreAnError) {
  TestOp op(metadef::Op(Float("x", R"(["...", "n"])"), Float("z", R"(["...", -1, -1])"),
                        R"(, "shape_rule": ["...", "n", "n"])", "f"));
  Tensor x(kF32, Dims(OPWRIGHT_MAX_RANK, 1));
  EXPECT_EQ(op.Infer({x}),
            "f: the shape of output z by [\"...\", \"n\", \"n\"]: it would have 33 dimensions, at "
            "most 32 are supported [CL005]");
}

TEST(DimsRule, AttributesTakeTheirDefaults) {
  TestOp op(
      metadef::Op(Float("x"), Float("z"), StrCat(kAttrs, R"(, "shape_rule": ["a", "b"])"), "f"));
  Tensor x(kF32, {1});
  EXPECT_EQ(op.Infer({x}), "float32[7, 2]");
}

TEST(SameRule, TheInputsMustHaveEqualShapes) {
  TestOp op(metadef::Op(Float("x") + ", " + Float("y"), Float("z"),
                        R"j(, "shape_rule": "same(x, y)")j", "f"));
  Tensor a(kF32, {2, 3}), b(kF32, {2, 3}), c(kF32, {3});
  EXPECT_EQ(op.Infer({a, b}), "float32[2, 3]");
  EXPECT_EQ(op.Infer({a, c}),
            "f: the shape of output z by same(x, y): inputs x [2, 3] and y [3] must have equal "
            "shapes; if the kernel takes others, say which in the metadef: a name for each "
            "dimension, or \"broadcast(...)\", which expands them for it [CL005]");
}

TEST(DefaultRule, AnOutputTakesTheShapeOfTheInputsWithItsShapeList) {
  TestOp op(metadef::Op(Float("x") + ", " + Float("y") + ", " + Float("w", R"(["n"])"), Float("z"),
                        "", "f"));
  Tensor a(kF32, {2, 3}), b(kF32, {3}), w(kF32, {5});
  EXPECT_EQ(op.Infer({a, a, w}), "float32[2, 3]");
  const std::string text = op.Infer({a, b, w});
  EXPECT_NE(text.find("x [2, 3] and y [3] must have equal shapes"), text.npos) << text;
}

TEST(BroadcastRule, FollowsNumpy) {
  TestOp op(metadef::Op(Float("x") + ", " + Float("y") + ", " + Float("w"), Float("z"),
                        R"j(, "shape_rule": "broadcast(x, y, w)")j", "f"));
  const auto shape = [&](Dims x, Dims y, Dims w) {
    Tensor a(kF32, std::move(x)), b(kF32, std::move(y)), c(kF32, std::move(w));
    return op.Infer({a, b, c});
  };
  EXPECT_EQ(shape({4, 3}, {3}, {4, 1}), "float32[4, 3]");
  EXPECT_EQ(shape({}, {}, {}), "float32[]");
  EXPECT_EQ(shape({4, 1}, {1, 5}, {2, 1, 1}), "float32[2, 4, 5]");
  EXPECT_EQ(shape({0}, {1}, {}), "float32[0]");
  EXPECT_EQ(shape({3, 0}, {1, 1}, {1}), "float32[3, 0]");
  EXPECT_EQ(shape({4, 3}, {4}, {1}),
            "f: the shape of output z by broadcast(x, y, w): shape [4] of y does not broadcast "
            "with [4, 3] [CL005]");
  EXPECT_NE(shape({0}, {2}, {1}).find("shape [2] of y does not broadcast with [0]"),
            std::string::npos);
}

TEST(BroadcastRule, AnAbsentInputHasNoSay) {
  TestOp op(metadef::Op(Float("x") + ", " + Float("y", "[-2]", R"(, "param_type": "optional")"),
                        Float("z"), R"j(, "shape_rule": "broadcast(x, y)")j", "f"));
  Tensor x(kF32, {3}), y(kF32, {2, 1});
  EXPECT_EQ(op.Infer({x, Arg()}), "float32[3]");
  EXPECT_EQ(op.Infer({x, y}), "float32[2, 3]");
}

TEST(ForwardRule, WithoutAForwardInputTheOutputGivenSays) {
  const std::string metadef = metadef::Op(Float("grad_z"), Float("grad_x"),
                                          R"(, "shape_rule": {"grad_x": "forward"})", "f_grad");
  TestOp op(metadef, [](const OpwrightCall& call) { Out(call, 0, 0, In(call, 0, 0)); });
  Tensor grad(kF32, {1}, {5}), out(kF32, {1, 1});
  EXPECT_EQ(op.Run({grad}, {out}), "");
  EXPECT_EQ(out.Values(), std::vector<double>{5});
  const std::string text = op.Infer({grad});
  EXPECT_NE(text.find("pass out="), text.npos) << text;
}

TEST(DynamicOutput, HasAsManyTensorsAsTheDynamicInputThatItsRuleNames) {
  const std::string dynamic = R"(, "param_type": "dynamic")";
  TestOp op(metadef::Op(Float("xs", "[-2]", dynamic) + ", " + Float("ys", "[-2]", dynamic),
                        Float("a", "[-2]", dynamic) + ", " + Float("b", "[-2]", dynamic),
                        R"j(, "shape_rule": {"a": "same(ys)", "b": "same(xs)"})j", "f"));
  Tensor two(kF32, {2}), three(kF32, {3}), four(kF32, {4});
  EXPECT_EQ(op.Infer({Arg{&two}, Arg{&three, &four}}), "float32[3], float32[4]; float32[2]");
  EXPECT_EQ(op.Infer({Arg(), Arg()}), "; ");
}

TEST(DynamicOutput, OneThatIsNoListIsLikeEachTensorOfAList) {
  TestOp op(metadef::Op(Float("xs", "[-2]", R"(, "param_type": "dynamic")"), Float("z", "[-2]"),
                        R"j(, "shape_rule": "same(xs)")j", "f"));
  Tensor a(kF32, {3, 3}), b(kF32, {3, 3}), c(kF32, {3});
  EXPECT_EQ(op.Infer({Arg{&a, &b}}), "float32[3, 3]");
  const std::string text = op.Infer({Arg{&a, &b, &c}});
  EXPECT_NE(text.find("inputs xs [3, 3] and xs [3] must have equal shapes"), text.npos) << text;
}

TEST(DynamicOutput, OfAnEmptyListIsEmptyAndMayBeNull) {
  const std::string dynamic = R"(, "param_type": "dynamic")";
  TestOp op(metadef::Op(Float("xs", "[-2]", dynamic), Float("zs", "[-2]", dynamic),
                        R"j(, "shape_rule": "same(xs)")j", "f"));
  EXPECT_EQ(op.Run({Arg()}, {Arg()}), "");
  EXPECT_EQ(op.calls, 0) << "no output has an element";
}

}  // namespace
}  // namespace opwright::test

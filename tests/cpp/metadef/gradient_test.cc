// SPDX-License-Identifier: Apache-2.0
#include "testing.h"

namespace opwright::metadef {
namespace {

std::vector<std::pair<int, int>> Roles(const Binding& binding) {
  std::vector<std::pair<int, int>> roles;
  for (const OpwrightRole& role : binding.inputs) roles.emplace_back(role.kind, role.index);
  return roles;
}

std::vector<std::string> BindIds(const Operator& forward, const Operator& backward) {
  std::vector<std::string> ids;
  const Expected<Binding> binding = BindGradient(forward, backward);
  if (binding.ok()) return ids;
  EXPECT_EQ(binding.error().id, binding.error().diagnostics[0].id);
  for (const Diagnostic& d : binding.error().diagnostics) ids.push_back(d.id);
  return ids;
}

Operator Forward(std::string_view gradient = "\"fwd_grad\"") {
  return Good(Op(Float("x") + "," + Float("w") + "," + Param1("index", R"(["int64"])", "[-1]"),
                 Float("y") + "," + Param1("mask", R"(["bool"])", "[-2]"),
                 StrCat(", \"gradient\": ", gradient), "fwd"))[0];
}

Operator Backward(std::string_view inputs, std::string_view outputs, std::string_view more = "") {
  return Good(Op(inputs, outputs, StrCat(R"(, "shape_rule": "forward")", more), "fwd_grad"))[0];
}

TEST(Gradient, FormsOfTheField) {
  EXPECT_EQ(Good(Op(Float("x"), Float("y")))[0].gradient.kind, GradientSpec::Kind::kNone);
  EXPECT_EQ(Forward("\"none\"").gradient.kind, GradientSpec::Kind::kNone);
  EXPECT_EQ(Forward("\"auto\"").gradient.kind, GradientSpec::Kind::kAuto);
  EXPECT_EQ(Forward().gradient.op, "fwd_grad");
  const GradientSpec spec =
      Forward(R"({"op": "g", "inputs": ["grad_y", "x"], "outputs": ["w"]})").gradient;
  EXPECT_TRUE(spec.long_form);
  EXPECT_EQ(spec.inputs, (std::vector<std::string>{"grad_y", "x"}));
  EXPECT_EQ(spec.outputs, std::vector<std::string>{"w"});
}

TEST(Gradient, NamesAreReportedBesideOtherErrors) {
  const auto file = [](std::string_view x_dtype, std::string_view backward_more) {
    return StrCat("[", Op(Param1("x", x_dtype, "[-2]"), Float("y"), R"(, "gradient": "g")", "f"),
                  ",",
                  Op(Float("z") + "," + Float("grad_y"), Float("grad_x"),
                     StrCat(R"+(, "shape_rule": "same(q)")+", backward_more), "g"),
                  "]");
  };
  const std::string right = R"(["float32"])";
  EXPECT_EQ(Ids(file(right, "")), (std::vector<std::string>{"MD034", "MD028"}));
  EXPECT_EQ(Ids(file(R"(["float31"])", "")), (std::vector<std::string>{"MD015", "MD034", "MD028"}));
  EXPECT_EQ(Ids(file(right, R"(, "mutates": ["w"])")),
            (std::vector<std::string>{"MD034", "MD028", "MD032"}));
}

TEST(Gradient, ABackwardOperatorWithoutAGradientIsToldItsName) {
  const auto forward = Good(Op(Float("x"), Float("loss"), R"(, "gradient": "g")", "f"))[0];
  const auto hint = [&](std::string_view inputs) {
    const Operator backward =
        Good(Op(inputs, Float("grad_x"), R"(, "shape_rule": "forward")", "g"))[0];
    return BindGradient(forward, backward).error().diagnostics[0].hint;
  };
  EXPECT_EQ(hint(Float("x") + "," + Float("dloss")), "write grad_loss");
  EXPECT_EQ(hint(Float("grad_loss") + "," + Float("los")), "write loss");
}

TEST(Gradient, ShortFormGoesByNames) {
  const Binding binding =
      BindGradient(Forward(), Backward(Float("grad_y") + "," + Float("w") + "," + Float("y"),
                                       Float("grad_w") + "," + Float("grad_x")))
          .value();
  EXPECT_EQ(Roles(binding),
            (std::vector<std::pair<int, int>>{
                {kOpwrightRoleGrad, 0}, {kOpwrightRoleInput, 1}, {kOpwrightRoleOutput, 0}}));
  EXPECT_EQ(binding.outputs, (std::vector<int32_t>{1, 0}));
}

TEST(Gradient, AnExactNameWins) {
  // The backward operator of a backward operator: grad_y is an input of the forward one.
  const Operator forward =
      Good(Op(Float("x") + "," + Float("grad_y"), Float("y") + "," + Float("grad_x"),
              R"(, "gradient": "gg")", "g"))[0];
  const Operator backward =
      Good(Op(Float("grad_y") + "," + Float("grad_grad_x") + "," + Float("grad_x"),
              Float("grad_grad_y"), R"(, "shape_rule": "forward")", "gg"))[0];
  const Binding binding = BindGradient(forward, backward).value();
  EXPECT_EQ(Roles(binding),
            (std::vector<std::pair<int, int>>{
                {kOpwrightRoleInput, 1}, {kOpwrightRoleGrad, 1}, {kOpwrightRoleOutput, 1}}));
  EXPECT_EQ(binding.outputs, std::vector<int32_t>{1});
}

TEST(Gradient, LongFormGoesByOrder) {
  const Operator forward =
      Forward(R"({"op": "fwd_grad", "inputs": ["x", "grad_y"], "outputs": ["w", "x"]})");
  const Binding binding =
      BindGradient(forward, Backward(Float("a") + "," + Float("b"), Float("c") + "," + Float("d")))
          .value();
  EXPECT_EQ(Roles(binding),
            (std::vector<std::pair<int, int>>{{kOpwrightRoleInput, 0}, {kOpwrightRoleGrad, 0}}));
  EXPECT_EQ(binding.outputs, (std::vector<int32_t>{1, 0}));
}

TEST(Gradient, WhatDoesNotFit) {
  using Ids = std::vector<std::string>;
  EXPECT_EQ(BindIds(Forward(), Backward(Float("grad_z"), Float("grad_x"))), Ids{"MD034"});
  EXPECT_EQ(BindIds(Forward(), Backward(Float("grad_y"), Float("x"))), Ids{"MD034"});
  EXPECT_EQ(BindIds(Forward(), Backward(Float("grad_y"), Float("grad_index"))), Ids{"MD035"});
  EXPECT_EQ(BindIds(Forward(), Backward(Float("grad_mask"), Float("grad_x"))), Ids{"MD035"});
  EXPECT_EQ(BindIds(Forward(), Backward(Float("grad_y"), Param1("grad_x", R"(["int32"])", "[-2]"))),
            Ids{"MD035"});
  EXPECT_EQ(BindIds(Forward(),
                    Backward(Float("x", "[-2]", R"(, "param_type": "dynamic")"), Float("grad_x"))),
            Ids{"MD037"});
  EXPECT_EQ(BindIds(Forward(), Backward(Float("grad_y"), Float("grad_x"),
                                        R"(, "attr": [{"name": "k", "type": "int"}])")),
            Ids{"MD038"});
  const Operator longer = Forward(R"({"op": "fwd_grad", "inputs": ["x"], "outputs": ["x"]})");
  EXPECT_EQ(BindIds(longer, Backward(Float("a") + "," + Float("b"), Float("c"))), Ids{"MD033"});
}

TEST(Gradient, ShapeListsThatNoTensorFits) {
  using Ids = std::vector<std::string>;
  EXPECT_EQ(BindIds(Forward(), Backward(Float("grad_y"), Float("grad_x", R"(["m", "n"])"))), Ids{});
  const auto bind = [](const char* forward, const char* backward) {
    const Operator op =
        Good(Op(Float("x", forward), Float("y", forward),
                R"+(, "shape_rule": "same(x)", "gradient": "fwd_grad")+", "fwd"))[0];
    return BindIds(op, Backward(Float("grad_y", backward), Float("grad_x", backward)));
  };
  const Ids both = {"MD044", "MD044"};
  EXPECT_EQ(bind(R"(["m", "n"])", R"(["m"])"), both);
  EXPECT_EQ(bind(R"(["m"])", R"(["m", "n"])"), both);
  EXPECT_EQ(bind(R"(["m", 3])", R"(["m", 4])"), both);
  EXPECT_EQ(bind(R"(["m"])", R"(["...", "m", "n"])"), both);
  for (const char* backward :
       {R"(["p", "q"])", R"(["m", 3])", R"([-1, -1])", R"(["...", "n"])", "[-2]"})
    EXPECT_EQ(bind(R"(["m", "n"])", backward), Ids{}) << backward;
  EXPECT_EQ(bind(R"(["...", "m", "n"])", R"(["m", "n"])"), Ids{});
}

TEST(Gradient, UnknownNamesAreAnsweredWithTheNearest) {
  const Expected<Binding> binding =
      BindGradient(Forward(), Backward(Float("grad_yy"), Float("grad_x")));
  ASSERT_FALSE(binding.ok());
  EXPECT_EQ(binding.error().diagnostics[0].hint, "write grad_y");
}

TEST(Gradient, AnOptionalForwardInputNeedsAnOptionalOne) {
  const Operator forward =
      Good(Op(Float("x") + "," + Float("bias", "[-1]", R"(, "param_type": "optional")"), Float("y"),
              R"(, "gradient": "fwd_grad")"))[0];
  EXPECT_EQ(
      BindIds(forward, Backward(Float("grad_y") + "," + Float("bias", "[-1]"), Float("grad_x"))),
      std::vector<std::string>{"MD037"});
  EXPECT_EQ(BindIds(forward,
                    Backward(Float("grad_y"), Float("grad_x") + "," + Float("grad_bias", "[-1]"))),
            std::vector<std::string>{"MD037"});
  EXPECT_EQ(
      BindIds(forward, Backward(Float("grad_y") + "," +
                                    Float("bias", "[-1]", R"(, "param_type": "optional")"),
                                Float("grad_x") + "," +
                                    Float("grad_bias", "[-1]", R"(, "param_type": "optional")"))),
      std::vector<std::string>());
}

TEST(Gradient, LongFormNamesAreCheckedWithoutTheBackwardOperator) {
  EXPECT_EQ(Ids(Op(Float("x"), Float("y"),
                   R"(, "gradient": {"op": "g", "inputs": ["grad_z"], "outputs": ["y"]})")),
            (std::vector<std::string>{"MD034", "MD034"}));
  EXPECT_EQ(Ids(Op(Float("x"), Float("y"), R"(, "gradient": "elsewhere")")),
            std::vector<std::string>());
}

TEST(Gradient, InOneFileTheErrorStandsAtTheField) {
  const std::string forward = "{\"op_name\": \"f\", \"input_desc\": [" + Float("x") +
                              "], \"output_desc\": [" + Float("y") + "],\n  \"gradient\": \"g\"}";
  EXPECT_EQ(Places("[" + forward + ",\n" +
                   Op(Float("dy"), Float("grad_x"), R"(, "shape_rule": "forward")", "g") + "]"),
            std::vector<std::string>{"2:15 MD034"});
}

// The arguments of the shape rules of g, whose inputs are x, y and grad_z, and outputs grad_x and
// grad_y.
std::vector<std::vector<int32_t>> TiedBy(const std::string& forward_rule,
                                         const std::string& more = "") {
  const std::string both = Float("x") + ", " + Float("y");
  const std::vector<Operator> operators = Good(StrCat(
      "[",
      Op(both, Float("z"), StrCat(", \"gradient\": \"g\", \"shape_rule\": ", forward_rule), "f"),
      ", ",
      Op(both + ", " + Float("grad_z"), Float("grad_x") + ", " + Float("grad_y"),
         R"(, "shape_rule": "forward")", "g"),
      more, "]"));
  std::vector<std::vector<int32_t>> args;
  for (const ShapeRule& rule : operators[1].shape_rules) args.push_back(rule.args);
  return args;
}

using Args = std::vector<std::vector<int32_t>>;

TEST(Gradient, OfAnOutputThatHasTheShapeOfAnInputIsTiedToIt) {
  EXPECT_EQ(TiedBy(R"j("same(x)")j"), (Args{{0, 2}, {1}}));
  EXPECT_EQ(TiedBy(R"j("same(x, y)")j"), (Args{{0, 2}, {1, 2}}));
  EXPECT_EQ(TiedBy(R"j("broadcast(x, y)")j"), (Args{{0}, {1}}));
}

TEST(Gradient, OfSeveralForwardOperatorsIsTiedByNone) {
  const std::string both = Float("x") + ", " + Float("y");
  const std::string other =
      ", " + Op(both, Float("z"), R"j(, "gradient": "g", "shape_rule": "broadcast(x, y)")j", "h");
  EXPECT_EQ(TiedBy(R"j("same(x)")j", other), (Args{{0}, {1}}));
}

}  // namespace
}  // namespace opwright::metadef

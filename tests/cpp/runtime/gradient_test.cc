// SPDX-License-Identifier: Apache-2.0
//
// The backward operator called for its forward one.
#include "runtime/gradient.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/text.h"
#include "metadef/testing.h"
#include "support/test_op.h"

namespace opwright::test {
namespace {

using metadef::Float;

constexpr const char* kOptional = R"(, "param_type": "optional")";
constexpr const char* kForwardRule = R"(, "shape_rule": "forward")";

// Two inputs, two outputs, both backward's gradients of outputs required or not.
std::string Forward(std::string_view more = "") {
  return metadef::Op(Float("x") + ", " + Float("y"), Float("a") + ", " + Float("b"),
                     StrCat(R"j(, "shape_rule": "same(x)")j", more), "f");
}
std::string Backward(std::string_view grad_kind, std::string_view result_kind,
                     std::string_view more = "") {
  return metadef::Op(
      Float("x") + ", " + Float("grad_a", "[-2]", grad_kind) + ", " +
          Float("grad_b", "[-2]", grad_kind),
      Float("grad_x", "[-2]", result_kind) + ", " + Float("grad_y", "[-2]", result_kind),
      StrCat(kForwardRule, more), "f_grad");
}

struct Tensors {
  Tensor x{kF32, {2}, {1, 2}};
  Tensor y{kF32, {2}, {3, 4}};
  Tensor a{kF32, {2}};
  Tensor b{kF32, {2}};
  Tensor grad_a{kF32, {2}, {10, 20}};
  Tensor grad_b{kF32, {2}, {30, 40}};
  Tensor grad_x{kF32, {2}, {-1, -1}};
  Tensor grad_y{kF32, {2}, {-1, -1}};
};

TEST(Gradient, InputsAndGradientsFindTheirPlacesByName) {
  Tensors t;
  TestOp forward(Forward());
  TestOp backward(Backward("", ""), [](const OpwrightCall& call) {
    for (int64_t i = 0; i < 2; ++i) {
      Out(call, 0, i, In(call, 0, i) * In(call, 1, i));
      Out(call, 1, i, In(call, 0, i) * In(call, 2, i));
    }
  });
  EXPECT_EQ(backward.RunAsGradientOf(forward, {t.x, t.y}, {t.a, t.b}, {t.grad_a, t.grad_b},
                                     {t.grad_x, t.grad_y}),
            "");
  EXPECT_EQ(t.grad_x.Values(), (std::vector<double>{10, 40}));
  EXPECT_EQ(t.grad_y.Values(), (std::vector<double>{30, 80}));
}

TEST(Gradient, OfAnUnusedOutputIsZerosForARequiredInput) {
  Tensors t;
  TestOp forward(Forward());
  TestOp backward(Backward("", ""), [](const OpwrightCall& call) {
    ASSERT_EQ(call.inputs[1].count, 1);
    for (int64_t i = 0; i < 2; ++i) {
      EXPECT_EQ(In(call, 1, i), 0);
      EXPECT_EQ(In(call, 2, i), i == 0 ? 30 : 40);
    }
  });
  EXPECT_EQ(backward.RunAsGradientOf(forward, {t.x, t.y}, {t.a, t.b}, {Arg(), t.grad_b},
                                     {t.grad_x, t.grad_y}),
            "");
  EXPECT_EQ(backward.calls, 1);
}

TEST(Gradient, OfAnUnusedOutputIsAbsentForAnOptionalInput) {
  Tensors t;
  TestOp forward(Forward());
  TestOp backward(Backward(kOptional, ""), [](const OpwrightCall& call) {
    EXPECT_EQ(call.inputs[1].count, 0);
    EXPECT_EQ(call.inputs[2].count, 1);
  });
  EXPECT_EQ(backward.RunAsGradientOf(forward, {t.x, t.y}, {t.a, t.b}, {Arg(), t.grad_b},
                                     {t.grad_x, t.grad_y}),
            "");
  EXPECT_EQ(backward.calls, 1);
}

TEST(Gradient, ThatIsUnwantedIsNullForAnOptionalOutput) {
  Tensors t;
  TestOp forward(Forward());
  TestOp backward(Backward("", kOptional), [](const OpwrightCall& call) {
    EXPECT_EQ(call.outputs[0].count, 0);
    ASSERT_EQ(call.outputs[1].count, 1);
    Out(call, 1, 0, 7);
    Out(call, 1, 1, 8);
  });
  EXPECT_EQ(backward.RunAsGradientOf(forward, {t.x, t.y}, {t.a, t.b}, {t.grad_a, t.grad_b},
                                     {Arg(), t.grad_y}),
            "");
  EXPECT_EQ(t.grad_y.Values(), (std::vector<double>{7, 8}));
}

TEST(Gradient, ThatIsUnwantedGoesToScratchForARequiredOutput) {
  Tensors t;
  TestOp forward(Forward());
  TestOp backward(Backward("", ""), [&](const OpwrightCall& call) {
    ASSERT_EQ(call.outputs[0].count, 1);
    EXPECT_NE(call.outputs[0].tensors[0].data, nullptr);
    for (int64_t i = 0; i < 2; ++i) Out(call, 0, i, 99);
  });
  EXPECT_EQ(backward.RunAsGradientOf(forward, {t.x, t.y}, {t.a, t.b}, {t.grad_a, t.grad_b},
                                     {Arg(), t.grad_y}),
            "");
  EXPECT_EQ(backward.calls, 1);
  EXPECT_EQ(t.x.Values(), (std::vector<double>{1, 2}));
}

TEST(Gradient, ThatIsUnwantedNeedsNoShapeWhenTheForwardInputIsNotSaved) {
  Tensors t;
  TestOp forward(Forward());
  TestOp backward(
      metadef::Op(Float("grad_a") + ", " + Float("grad_b"),
                  Float("grad_x", "[-2]", kOptional) + ", " + Float("grad_y", "[-2]", kOptional),
                  kForwardRule, "f_grad"));
  EXPECT_EQ(backward.RunAsGradientOf(forward, {t.x, t.y}, {t.a, t.b}, {t.grad_a, t.grad_b},
                                     {t.grad_x, Arg()}),
            "");
  EXPECT_EQ(backward.calls, 1);
}

TEST(Gradient, WithAnyStridesIsReadAndWritten) {
  Tensors t;
  TestOp forward(Forward());
  TestOp backward(Backward("", kOptional), [](const OpwrightCall& call) {
    for (int64_t i = 0; i < 2; ++i) Out(call, 0, i, In(call, 1, i) + In(call, 2, i));
  });
  Tensor repeated = Tensor::Strided(kF32, {2}, {0}, 0, 1);
  repeated.Fill(5);
  Tensor backwards = Tensor::Strided(kF64, {2}, {-1}, 1, 2);
  Tensor result = Tensor::Strided(kF32, {2}, {3}, 1, 8);
  EXPECT_EQ(backward.RunAsGradientOf(forward, {t.x, t.y}, {t.a, t.b}, {repeated, backwards},
                                     {result, Arg()}),
            "");
  EXPECT_EQ(result.Values(), (std::vector<double>{7, 6}));
}

TEST(Gradient, ForAnInputThatTheBackwardOperatorLeavesOutIsRefused) {
  Tensors t;
  TestOp forward(Forward());
  TestOp backward(
      metadef::Op(Float("x") + ", " + Float("grad_a"), Float("grad_x"), kForwardRule, "f_grad"));
  EXPECT_EQ(backward.RunAsGradientOf(forward, {t.x, t.y}, {t.a, t.b}, {t.grad_a, Arg()},
                                     {t.grad_x, Arg()}),
            "");
  EXPECT_EQ(
      backward.RunAsGradientOf(forward, {t.x, t.y}, {t.a, t.b}, {t.grad_a, Arg()},
                               {t.grad_x, t.grad_y}),
      "f: the backward operator f_grad gives no gradient for input y, and one is asked for; "
      "give f_grad an output grad_y (zeros where y is no variable), or stop the gradient at y "
      "(detach, stop_gradient) [GR002]");
}

TEST(Gradient, SavedOutputsAreHandedOver) {
  Tensors t;
  TestOp forward(Forward());
  TestOp backward(
      metadef::Op(Float("b") + ", " + Float("grad_b"), Float("grad_y"), kForwardRule, "f_grad"),
      [](const OpwrightCall& call) { EXPECT_EQ(In(call, 0, 0), 77); });
  t.b.Fill(77);
  EXPECT_EQ(backward.RunAsGradientOf(forward, {t.x, t.y}, {t.a, t.b}, {Arg(), t.grad_b},
                                     {Arg(), t.grad_y}),
            "");
  EXPECT_EQ(backward.calls, 1);
}

TEST(Gradient, ThroughAnOutputThatTheBackwardOperatorDoesNotTakeIsNotLost) {
  Tensors t;
  TestOp forward(Forward());
  TestOp backward(
      metadef::Op(Float("x") + ", " + Float("grad_a"), Float("grad_x"), kForwardRule, "f_grad"));
  const auto given = [&](Arg grad_b) {
    return backward.RunAsGradientOf(forward, {t.x, t.y}, {t.a, t.b}, {t.grad_a, grad_b},
                                    {t.grad_x, Arg()});
  };
  const std::string lost =
      "f: a gradient comes through output b, and the backward operator f_grad takes none of it, so "
      "that it would be lost; give f_grad an input grad_b, or stop the gradient where b is "
      "used (detach, stop_gradient) [GR023]";
  EXPECT_EQ(given(t.grad_b), lost);
  Tensor strided = Tensor::Strided(kF32, {2}, {-3}, 3, 8);
  EXPECT_EQ(given(strided), lost);
  for (const double zero : {0.0, -0.0}) {
    t.grad_b.Fill(zero);
    EXPECT_EQ(given(t.grad_b), "");
  }
  t.grad_b.Fill(NAN);
  EXPECT_EQ(given(t.grad_b), lost);
}

TEST(Gradient, WhatComesThroughIntegersIsNone) {
  Tensors t;
  TestOp forward(metadef::Op(Float("x") + ", " + Float("y"),
                             Float("a") + ", " + metadef::Param1("b", R"(["int32"])", "[-2]"),
                             R"j(, "shape_rule": "same(x)")j", "f"));
  TestOp backward(
      metadef::Op(Float("x") + ", " + Float("grad_a"), Float("grad_x"), kForwardRule, "f_grad"));
  Tensor count(kI32, {2}), grad_count(kI32, {2}, {1, 5});
  EXPECT_EQ(backward.RunAsGradientOf(forward, {t.x, t.y}, {t.a, count}, {t.grad_a, grad_count},
                                     {t.grad_x, Arg()}),
            "");
  EXPECT_EQ(backward.calls, 1);
}

TEST(Gradient, AttributesWithTheSameNameArePassedOnInTheBackwardOperatorsOrder) {
  Tensors t;
  TestOp forward(Forward(R"(, "attr": [{"name": "p", "type": "int"},
                                       {"name": "q", "type": "float", "param_type": "optional", "default_value": 0.5}])"));
  TestOp backward(
      Backward("", kOptional,
               R"(, "attr": [{"name": "q", "type": "float"}, {"name": "p", "type": "int"},
                                       {"name": "own", "type": "int", "param_type": "optional", "default_value": 4}])"),
      [](const OpwrightCall& call) {
        EXPECT_EQ(call.attrs[0].value.f, 0.5);
        EXPECT_EQ(call.attrs[1].value.i, 9);
        EXPECT_EQ(call.attrs[2].value.i, 4);
      });
  EXPECT_EQ(backward.RunAsGradientOf(forward, {t.x, t.y}, {t.a, t.b}, {t.grad_a, t.grad_b},
                                     {t.grad_x, Arg()}, {IntAttr(9)}),
            "");
  EXPECT_EQ(backward.calls, 1);
}

TEST(Gradient, TheLongFormSaysEverythingItself) {
  Tensors t;
  TestOp forward(
      Forward(R"(, "gradient": {"op": "g", "inputs": ["grad_b", "y"], "outputs": ["y"]})"));
  TestOp backward(metadef::Op(Float("p") + ", " + Float("q"), Float("r"), kForwardRule, "g"),
                  [](const OpwrightCall& call) {
                    for (int64_t i = 0; i < 2; ++i)
                      Out(call, 0, i, In(call, 0, i) * In(call, 1, i));
                  });
  EXPECT_EQ(backward.RunAsGradientOf(forward, {t.x, t.y}, {t.a, t.b}, {Arg(), t.grad_b},
                                     {Arg(), t.grad_y}),
            "");
  EXPECT_EQ(t.grad_y.Values(), (std::vector<double>{90, 160}));
}

TEST(Gradient, OfAnEmptyInputOverNoRowsIsComputed) {
  // y = x + bias over no rows: the bias's gradient is zeros of its own shape.
  TestOp forward(metadef::Op(Float("x", R"(["m", "n"])") + ", " + Float("bias", R"(["n"])"),
                             Float("z", R"(["m", "n"])"), R"j(, "shape_rule": "same(x)")j", "f"));
  TestOp backward(metadef::Op(Float("bias", R"(["n"])") + ", " + Float("grad_z", R"(["m", "n"])"),
                              Float("grad_bias", R"(["n"])"), kForwardRule, "f_grad"),
                  [](const OpwrightCall& call) {
                    for (int64_t i = 0; i < 3; ++i) Out(call, 0, i, 0);
                  });
  Tensor x(kF32, {0, 3}), bias(kF32, {3}), z(kF32, {0, 3}), grad(kF32, {0, 3}), result(kF32, {3});
  EXPECT_EQ(backward.RunAsGradientOf(forward, {x, bias}, {z}, {grad}, {Arg(), result}), "");
  EXPECT_EQ(result.Values(), (std::vector<double>{0, 0, 0}));
}

constexpr const char* kDynamic = R"(, "param_type": "dynamic")";

// Each tensor of output 0, filled to its own size.
void FillList(const OpwrightCall& call) {
  for (int64_t k = 0; k < call.outputs[0].count; ++k) {
    const OpwrightTensor& t = call.outputs[0].tensors[k];
    for (int64_t i = 0; i < SizeOf(t); ++i) static_cast<float*>(t.data)[i] = 10 * k + i;
  }
}

TEST(Gradient, OfAListThatIsNotSavedHasEachTensorsOwnShape) {
  TestOp forward(metadef::Op(Float("xs", "[-2]", kDynamic), Float("ys", "[-2]", kDynamic),
                             R"j(, "shape_rule": "same(xs)")j", "f"));
  TestOp backward(metadef::Op(Float("grad_ys", "[-2]", kDynamic),
                              Float("grad_xs", "[-2]", kDynamic), kForwardRule, "f_grad"),
                  &FillList);
  Tensor a(kF32, {2}), b(kF32, {2, 2}), none(kF32, {2}), grad_a(kF32, {2}), grad_b(kF32, {2, 2});
  EXPECT_EQ(backward.RunAsGradientOf(forward, {Arg{&a, &b}}, {Arg{&a, &b}}, {Arg{&a, &b}},
                                     {Arg{&grad_a, &grad_b}}),
            "");
  EXPECT_EQ(grad_a.Values(), (std::vector<double>{0, 1}));
  EXPECT_EQ(grad_b.Values(), (std::vector<double>{10, 11, 12, 13}));
  EXPECT_EQ(backward.RunAsGradientOf(forward, {Arg{&a, &b}}, {Arg{&a, &b}}, {Arg{&a, &b}},
                                     {Arg{&grad_a, &none}}),
            "f_grad: output grad_xs has shape [2], [2, 2] is due [CL008]");
  EXPECT_EQ(backward.RunAsGradientOf(forward, {Arg{&a, &b}}, {Arg{&a, &b}}, {Arg{&a, &b}},
                                     {Arg{&grad_a}}),
            "f_grad: output grad_xs has 1 tensors, 2 are due [CL001]");
}

TEST(Gradient, OfAListHasItsTensorsThoughTheBackwardOperatorTakesNoList) {
  TestOp forward(metadef::Op(Float("xs", "[-2]", kDynamic), Float("y"),
                             R"j(, "shape_rule": "same(xs)")j", "f"));
  TestOp backward(
      metadef::Op(Float("grad_y"), Float("grad_xs", "[-2]", kDynamic), kForwardRule, "f_grad"),
      &FillList);
  Tensor a(kF32, {2}), b(kF32, {2}), y(kF32, {2}), grad(kF32, {2});
  Tensor grad_a(kF32, {2}), grad_b(kF32, {2});
  EXPECT_EQ(backward.RunAsGradientOf(forward, {Arg{&a, &b}}, {y}, {grad}, {Arg{&grad_a, &grad_b}}),
            "");
  EXPECT_EQ(grad_a.Values(), (std::vector<double>{0, 1}));
  EXPECT_EQ(grad_b.Values(), (std::vector<double>{10, 11}));
  EXPECT_EQ(backward.Infer({grad}),
            "f_grad: the shape of output grad_xs by forward: it is that of the forward input, "
            "which only a gradient call knows; pass out= [CL005]");
}

}  // namespace
}  // namespace opwright::test

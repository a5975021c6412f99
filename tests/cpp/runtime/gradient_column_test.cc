// SPDX-License-Identifier: Apache-2.0
//
// Which dtype column a backward operator takes: saved dtypes equal and the gradient widest, else
// the first that holds all without loss.
#include <gtest/gtest.h>

#include "base/text.h"
#include "metadef/testing.h"
#include "support/test_op.h"

namespace opwright::test {
namespace {

using metadef::Param1;

constexpr const char* kFloats = R"(["float16", "bfloat16", "float32", "float64"])";

std::string Forward(std::string_view dtypes = kFloats) {
  return metadef::Op(Param1("x", dtypes, "[-2]"), Param1("z", dtypes, "[-2]"), "", "square");
}

// grad_x = 2 x grad_z, in columns of (x, grad_z, grad_x).
std::string Backward(std::string_view x, std::string_view grad_z, std::string_view grad_x) {
  return metadef::Op(Param1("x", x, "[-2]") + ", " + Param1("grad_z", grad_z, "[-2]"),
                     Param1("grad_x", grad_x, "[-2]"), R"(, "shape_rule": "forward")",
                     "square_grad");
}

struct Result {
  std::string error;
  int32_t column = -1;
  double value = 0;
};

Result Gradient(const std::string& backward, OpwrightDType x_dtype, OpwrightDType grad_dtype,
                double x_value = 3, double grad_value = 5) {
  TestOp forward(Forward());
  TestOp op(backward,
            [](const OpwrightCall& call) { Out(call, 0, 0, 2 * In(call, 0, 0) * In(call, 1, 0)); });
  Tensor x(x_dtype, {1}, {x_value}), z(x_dtype, {1}), grad(grad_dtype, {1}, {grad_value}),
      result(x_dtype, {1}, {0});
  const std::string error = op.RunAsGradientOf(forward, {x}, {z}, {grad}, {result});
  return {error, op.column, result.Values()[0]};
}

TEST(GradientColumn, IsTheOneWithTheSavedDtypeAndTheWidestGradient) {
  const std::string backward =
      Backward(R"(["float16", "float16", "float32"])", R"(["float16", "float32", "float32"])",
               R"(["float16", "float16", "float32"])");
  for (const OpwrightDType grad : {kF16, kF32, kF64, kBf16}) {
    const Result result = Gradient(backward, kF16, grad);
    EXPECT_EQ(result.error, "");
    EXPECT_EQ(result.column, 1) << "whatever the gradient's own dtype is";
    EXPECT_EQ(result.value, 30);
  }
  EXPECT_EQ(Gradient(backward, kF32, kF16).column, 2);
}

TEST(GradientColumn, WithoutAnEqualSavedDtypeTheFirstThatHoldsAllIsTaken) {
  const std::string backward = Backward(R"(["float32", "float64"])", R"(["float32", "float64"])",
                                        R"(["float32", "float64"])");
  EXPECT_EQ(Gradient(backward, kF16, kF16).column, 0);
  EXPECT_EQ(Gradient(backward, kBf16, kF16).column, 0);
  EXPECT_EQ(Gradient(backward, kF16, kF64).column, 1) << "the gradient too must be held";
}

TEST(GradientColumn, NoneThatHoldsTheSavedTensorIsAnError) {
  const Result result =
      Gradient(Backward(R"(["float32"])", R"(["float32"])", R"(["float32"])"), kF64, kF32);
  EXPECT_EQ(result.error,
            "square_grad: dtype float64 of input x not in metadef (float32); convert it, or list "
            "the dtype [CL002]");
}

TEST(GradientColumn, TheResultIsRoundedOnceIntoTheInputsDtype) {
  // 2 * 1025/1024 * g in float64, one rounding to float16: 1 + 1/1024 + 1/2048 + a little goes up.
  const std::string backward = Backward(R"(["float16"])", R"(["float64"])", R"(["float64"])");
  const double grad = 0.5 + 1.0 / 4096 + 1e-12;
  const Result result = Gradient(backward, kF16, kF64, 1, grad);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.value, 1.0 + 1.0 / 1024) << "through float32 it would be a tie and go to even";
}

TEST(GradientColumn, AGradientThatIsNoFloatIsRefused) {
  const Result result =
      Gradient(Backward(R"(["float32"])", R"(["float32"])", R"(["float32"])"), kF32, kI32);
  EXPECT_NE(result.error.find("dtype int32 of input grad_z not in metadef (float32)"),
            std::string::npos)
      << result.error;
}

TEST(GradientColumn, ComplexOperatorsHaveGradients) {
  const std::string backward = Backward(R"(["complex64"])", R"(["complex64"])", R"(["complex64"])");
  TestOp forward(Forward(R"(["complex64"])"));
  TestOp op(backward,
            [](const OpwrightCall& call) { Out(call, 0, 0, 2 * In(call, 0, 0) * In(call, 1, 0)); });
  Tensor x(kC64, {1}, {3}), z(kC64, {1}), grad(kC64, {1}, {5}), result(kC64, {1}, {0});
  EXPECT_EQ(op.RunAsGradientOf(forward, {x}, {z}, {grad}, {result}), "");
  EXPECT_EQ(result.Values()[0], 30);
}

TEST(GradientColumn, IntegerInputsThatAreSavedMustBeExact) {
  const std::string forward_text = metadef::Op(
      Param1("x", R"(["float32"])", "[-2]") + ", " + Param1("i", R"(["int64"])", "[-2]"),
      Param1("z", R"(["float32"])", "[-2]"), R"j(, "shape_rule": "same(x)")j", "take");
  const std::string backward_text = metadef::Op(
      Param1("i", R"(["int32", "int64"])", "[-2]") + ", " +
          Param1("grad_z", R"(["float32"])", "[-2]"),
      Param1("grad_x", R"(["float32"])", "[-2]"), R"(, "shape_rule": "forward")", "take_grad");
  TestOp forward(forward_text);
  TestOp op(backward_text);
  Tensor x(kF32, {1}), i(kI64, {1}), z(kF32, {1}), grad(kF16, {1}), result(kF32, {1});
  EXPECT_EQ(op.RunAsGradientOf(forward, {x, i}, {z}, {grad}, {result, Arg()}), "");
  EXPECT_EQ(op.column, 1);
}

}  // namespace
}  // namespace opwright::test

// SPDX-License-Identifier: Apache-2.0
//
// libopwright_mindspore.so's functions, called as MindSpore calls them: errors are thrown, with the
// id.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <bit>

#include "entries/aot.h"
#include "registry/kernels.h"
#include "registry/tokens.h"

using AotFunction = int(int n, void** params, int* ndims, int64_t** shapes, const char** dtypes,
                        void* stream, void* extra);
using AotInferShape = OpwrightVector(int* ndims, int64_t** shapes, void* extra);
extern "C" {
AotFunction opwright_call, opwright_gradient, opwright_reduce;
AotInferShape opwright_callInferShape, opwright_gradientInferShape, opwright_reduceInferShape;
}

namespace opwright::test {
namespace {

// "" or what is thrown.
std::string Called(AotFunction* function, Row& row, FakeExtra& extra) {
  const OpwrightAotCall call = row.Call();
  return Thrown([&] {
    EXPECT_EQ(function(call.num_params, call.params, call.ndims, call.shapes, call.dtypes, nullptr,
                       extra.get()),
              0);
  });
}

// A gradient reduced to the result's shape and dtype, which are the input's: "" or the error.
std::string Reduced(Tensor& grad, const char* from, Tensor& result, const char* to,
                    int64_t sums = 1) {
  FakeExtra extra;
  extra.Int("opwright_sums", sums).String("opwright_operator", "f").String("opwright_input", "x");
  Row row({{grad, from}, {result, to}, {result, to}});
  return Called(&opwright_reduce, row, extra);
}

TEST(MindSporeReduce, SumsAndConverts) {
  Tensor grad(kF32, {2, 3}), summed(kF64, {3}), converted(kF16, {2, 3});
  EXPECT_EQ(Reduced(grad, "float32", summed, "float64"), "");
  EXPECT_EQ(summed.Values(), (std::vector<double>{5, 7, 9}));
  EXPECT_EQ(Reduced(grad, "float32", converted, "float16"), "");
  EXPECT_EQ(converted.Values(), grad.Values());
}

TEST(MindSporeReduce, AnotherShapeIsAnError) {
  Tensor grad(kF32, {2, 3}), result(kF32, {2}), wide(kF32, {3});
  EXPECT_EQ(Reduced(grad, "float32", result, "float32"),
            "f: the bprop's gradient of input x has shape [2, 3], [2] is due: the input's own "
            "[GR005]");
  EXPECT_NE(Reduced(grad, "float32", wide, "float32", 0).find("[GR005]"), std::string::npos);
}

TEST(MindSporeReduce, ComplexGradientsAreCopiedOrRefused) {
  Tensor grad(kC64, {2, 3}), same(kC64, {2, 3}), wide(kC128, {2, 3}), summed(kC64, {3}),
      real(kF32, {2, 3});
  EXPECT_EQ(Reduced(grad, "complex64", same, "complex64"), "");
  EXPECT_EQ(same.Values(), grad.Values());
  EXPECT_EQ(Reduced(grad, "complex64", summed, "complex64"),
            "f: the bprop's gradient of input x is dtype complex64, of an input of complex64; "
            "complex gradients are not supported where they are summed or converted [GR006]");
  const std::string words = "complex gradients are not supported";
  EXPECT_NE(Reduced(grad, "complex64", wide, "complex128").find(words), std::string::npos);
  EXPECT_NE(Reduced(grad, "complex64", real, "float32").find(words), std::string::npos);
  EXPECT_NE(Reduced(real, "float32", same, "complex64").find(words), std::string::npos);
}

TEST(MindSporeReduce, IntegersAreNoGradients) {
  Tensor grad(kI32, {2, 3}), result(kF32, {2, 3});
  EXPECT_EQ(Reduced(grad, "int32", result, "float32"),
            "f: the bprop's gradient of input x is dtype int32, of an input of float32; a float "
            "tensor is due [GR006]");
}

TEST(MindSporeReduce, ARowOfAnotherLengthIsAMistakeOfOurs) {
  Tensor grad(kF32, {3}), result(kF32, {3});
  FakeExtra extra;
  Row row({{grad, "float32"}, {result, "float32"}});
  EXPECT_EQ(Called(&opwright_reduce, row, extra),
            "MindSpore gave 2 tensors where a gradient, an input and a result are due [IN001]");
}

TEST(MindSporeReduce, TheResultHasTheInputsShape) {
  FakeExtra extra;
  Row row = Row::OfShapes({{2, 3}, {3}});
  EXPECT_EQ(Taken<Dims>(opwright_reduceInferShape(row.ndims(), row.shapes(), extra.get())),
            Dims{3});
}

// z = x * y * factor, its gradient; two = (x + y, x - y).
constexpr const char* kSource = R"cpp(
#include <opwright/kernel.h>
  using opwright::View;

  void Mul(View<const float> x, View<const float> y, View<float> z, double factor) {
    for (int64_t i = 0; i < z.Size(); ++i) z(i) = x(i) * y(i) * static_cast<float>(factor);
  }
  OPWRIGHT_FUNCTION(mul, Mul)

  void MulGrad(View<const float> x, View<const float> y, View<const float> g, View<float> gx,
               View<float> gy, double factor) {
    for (int64_t i = 0; i < g.Size(); ++i) {
      gx(i) = g(i) * y(i) * static_cast<float>(factor);
      gy(i) = g(i) * x(i) * static_cast<float>(factor);
    }
  }
  OPWRIGHT_FUNCTION(mul_grad, MulGrad)

  void Two(View<const float> x, View<const float> y, View<float> a, View<float> b) {
    for (int64_t i = 0; i < a.Size(); ++i) {
      a(i) = x(i) + y(i);
      b(i) = x(i) - y(i);
    }
  }
  OPWRIGHT_FUNCTION(two, Two)
)cpp";

std::string Metadefs() {
  const std::string inputs = Float("x", "[-1]") + ", " + Float("y", "[-1]");
  const std::string attr = StrCat(", \"attr\": [", Attribute("factor", "float", "1.0"), "]");
  return Operators(
      {Op(inputs, Float("z", "[-1]"),
          StrCat(attr, R"j(, "gradient": "mul_grad", "shape_rule": "same(x, y)")j"), "mul"),
       Op(inputs + ", " + Float("grad_z", "[-1]"),
          Float("grad_x", "[-1]") + ", " + Float("grad_y", "[-1]"),
          StrCat(attr, R"(, "shape_rule": "forward")"), "mul_grad"),
       Op(inputs, Float("a", "[-1]") + ", " + Float("b", "[-1]"),
          R"j(, "shape_rule": "same(x, y)")j", "two")});
}

class MindSporeBridge : public testing::Test {
 protected:
  static void SetUpTestSuite() { path_ = BuildLibrary(Metadefs(), kSource); }
  // Puts the operator's token into the attributes.
  std::shared_ptr<Operator> Point(const char* name) {
    const std::shared_ptr<Operator> op = FindOrFail(*library_, name);
    extra_.Int("opwright_token", TokenOf(op));
    return op;
  }

  static std::string path_;
  std::shared_ptr<Library> library_ = LoadOrFail(path_);
  FakeExtra extra_;
  Tensor x_{kF32, {2}, {2, 3}}, y_{kF32, {2}, {5, 7}}, z_{kF32, {2}}, w_{kF32, {2}};
};
std::string MindSporeBridge::path_;

TEST_F(MindSporeBridge, CallsTheOperatorOfTheToken) {
  Point("mul");
  extra_.Int("opwright.factor", std::bit_cast<int64_t>(2.0));
  Row row({{x_, "float32"}, {y_, "float32"}, {z_, "float32"}});
  EXPECT_EQ(Called(&opwright_call, row, extra_), "");
  EXPECT_EQ(z_.Values(), (std::vector<double>{20, 42}));
}

TEST_F(MindSporeBridge, CallsOneWithSeveralOutputs) {
  Point("two");
  Row row({{x_, "float32"}, {y_, "float32"}, {z_, "float32"}, {w_, "float32"}});
  EXPECT_EQ(Called(&opwright_call, row, extra_), "");
  EXPECT_EQ(z_.Values(), (std::vector<double>{7, 10}));
  EXPECT_EQ(w_.Values(), (std::vector<double>{-3, -4}));
  Row known = Row::OfShapes({{2}, {2}}), partial = Row::OfShapes({{-1}, {-1}});
  const auto infer = [&](Row& shapes) {
    return Taken<std::vector<Dims>>(
        opwright_callInferShape(shapes.ndims(), shapes.shapes(), extra_.get()));
  };
  EXPECT_EQ(infer(known), (std::vector<Dims>{{2}, {2}}));
  EXPECT_EQ(infer(partial), (std::vector<Dims>{{-1}, {-1}}));
}

TEST_F(MindSporeBridge, CallsTheGradientWhole) {
  Point("mul");
  Tensor grad(kF32, {2}, {10, 100}), gx(kF32, {2}), gy(kF32, {2});
  Row row({{x_, "float32"}, {y_, "float32"}, {grad, "float32"}, {gx, "float32"}, {gy, "float32"}});
  EXPECT_EQ(Called(&opwright_gradient, row, extra_), "");
  EXPECT_EQ(gx.Values(), (std::vector<double>{50, 700}));
  EXPECT_EQ(gy.Values(), (std::vector<double>{20, 300}));
  Row shapes = Row::OfShapes({{2}, {4}, {2}});
  EXPECT_EQ(Taken<std::vector<Dims>>(
                opwright_gradientInferShape(shapes.ndims(), shapes.shapes(), extra_.get())),
            (std::vector<Dims>{{2}, {4}}));
}

// The backward operator takes no output, which is not among the tensors: its shape is known.
TEST_F(MindSporeBridge, HoldsAGradientAgainstTheOutputThatIsNotThere) {
  Point("mul");
  Tensor grad(kF32, {3}), gx(kF32, {2}), gy(kF32, {2});
  Row row({{x_, "float32"}, {y_, "float32"}, {grad, "float32"}, {gx, "float32"}, {gy, "float32"}});
  EXPECT_NE(Called(&opwright_gradient, row, extra_)
                .find("the gradient of output z has shape [3], [2] is due"),
            std::string::npos)
      << Called(&opwright_gradient, row, extra_);
}

TEST_F(MindSporeBridge, ErrorsAreThrownWithTheirId) {
  Row row({{x_, "float32"}, {y_, "float32"}, {z_, "float32"}});
  extra_.Int("opwright_token", 1);
  EXPECT_NE(Called(&opwright_call, row, extra_).find("[LD013]"), std::string::npos);
  Point("mul");
  Row integers({{x_, "int32"}, {y_, "float32"}, {z_, "float32"}});
  EXPECT_NE(Called(&opwright_call, integers, extra_).find("mul: dtype int32 of input x"),
            std::string::npos);
  Row few({{x_, "float32"}, {y_, "float32"}});
  EXPECT_NE(Called(&opwright_call, few, extra_).find("[CL001]"), std::string::npos);
}

// The functions in the operator library itself, which MindSpore finds by the operator's name.
TEST_F(MindSporeBridge, TheLibraryHasTheSameByItself) {
  void* const handle = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  auto* const call = reinterpret_cast<AotFunction*>(dlsym(handle, "mul"));
  auto* const infer = reinterpret_cast<AotInferShape*>(dlsym(handle, "mulInferShape"));
  ASSERT_NE(call, nullptr);
  ASSERT_NE(infer, nullptr);
  extra_.Float("factor", 2);
  Row row({{x_, "float32"}, {y_, "float32"}, {z_, "float32"}});
  EXPECT_EQ(Called(call, row, extra_), "");
  EXPECT_EQ(z_.Values(), (std::vector<double>{20, 42}));
  Row integers({{x_, "int32"}, {y_, "float32"}, {z_, "float32"}});
  EXPECT_NE(Called(call, integers, extra_).find("[CL002]"), std::string::npos);
  Row known = Row::OfShapes({{2}, {2}}), partial = Row::OfShapes({{-1}, {2}}),
      wrong = Row::OfShapes({{2}, {3}});
  EXPECT_EQ(Taken<Dims>(infer(known.ndims(), known.shapes(), extra_.get())), Dims{2});
  EXPECT_EQ(Taken<Dims>(infer(partial.ndims(), partial.shapes(), extra_.get())), Dims{2});
  EXPECT_NE(Thrown([&] { infer(wrong.ndims(), wrong.shapes(), extra_.get()); }).find("[CL005]"),
            std::string::npos);
}

}  // namespace
}  // namespace opwright::test

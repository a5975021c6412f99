// SPDX-License-Identifier: Apache-2.0
//
// libopwright_mindspore.so's functions, called as MindSpore calls them: errors are thrown, with the
// id.
#include <gtest/gtest.h>

#include "entries/aot.h"

extern "C" int opwright_reduce(int n, void** params, int* ndims, int64_t** shapes,
                               const char** dtypes, void*, void* extra);

namespace opwright::test {
namespace {

// A gradient reduced to the result's shape and dtype, which are the input's: "" or the error.
std::string Reduced(Tensor& grad, const char* from, Tensor& result, const char* to,
                    int64_t sums = 1) {
  FakeExtra extra;
  extra.Int("opwright_sums", sums).String("opwright_operator", "f").String("opwright_input", "x");
  Row row({{grad, from}, {result, to}, {result, to}});
  const OpwrightAotCall call = row.Call();
  return Thrown([&] {
    EXPECT_EQ(opwright_reduce(call.num_params, call.params, call.ndims, call.shapes, call.dtypes,
                              nullptr, extra.get()),
              0);
  });
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

}  // namespace
}  // namespace opwright::test

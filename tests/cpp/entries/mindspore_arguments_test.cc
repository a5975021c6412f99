// SPDX-License-Identifier: Apache-2.0
//
// One row of tensors without names, as an operator's inputs and outputs.
#include "entries/mindspore/arguments.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/text.h"
#include "entries/aot.h"
#include "entries/mindspore/attrs.h"
#include "metadef/testing.h"
#include "runtime/dtype.h"
#include "support/test_op.h"

namespace opwright::test {
namespace {

using entries::MindSporeArguments;
using metadef::Float;
using metadef::Param1;

std::string TextOf(const opwright::Status& status) {
  return status.ok() ? "" : status.error().Text();
}

double DoubleAt(const OpwrightArgument& argument) {
  return *static_cast<const double*>(argument.tensors[0].data);
}

// x and y of float32 and float64, as the output. Where dtypes may be mixed, a number beside tensors
// of float64 is a tensor of float32 like any other.
std::string TwoFloats() {
  const std::string dtypes = R"(["float32", "float64"])";
  return metadef::Op(Param1("x", dtypes, "[-2]") + ", " + Param1("y", dtypes, "[-2]"),
                     Param1("z", dtypes, "[-2]"),
                     R"j(, "shape_rule": "same(x)", "mixed_dtypes": "error")j", "f");
}

// The gradient for inputs 0 and 1 of an operator with those two inputs and one output.
constexpr int32_t kBoth[] = {0, 1};
const OpwrightGradient kGradient = {sizeof(OpwrightGradient), "f_grad", 0, 2, nullptr, kBoth};

TEST(MindSporeGradient, ComplexGradientsAreRefused) {
  TestOp op(metadef::Op(Param1("x", R"(["complex64"])", "[-2]") + ", " + Float("y"),
                        Param1("z", R"(["complex64"])", "[-2]"), R"j(, "shape_rule": "same(x)")j",
                        "f"));
  Tensor x(kC64, {2}), y(kF32, {2}), z(kC64, {2}), grad(kC64, {2}), gx(kC64, {2}), gy(kF32, {2});
  Row row({{x, "complex64"},
           {y, "float32"},
           {z, "complex64"},
           {grad, "complex64"},
           {gx, "complex64"},
           {gy, "float32"}});
  const OpwrightAotCall call = row.Call();
  Arena arena(nullptr);
  MindSporeArguments given(op.def(), call, arena);
  EXPECT_EQ(TextOf(given.TakeGradient(kGradient)),
            "f: the gradient of input x is complex64; complex gradients are not supported in "
            "MindSpore [GR006]");
  EXPECT_EQ(gx.Values(), (std::vector<double>{1, 2}));  // as it was
}

TEST(MindSporeNumbers, AFloatIsWhatTheUserWrote) {
  TestOp op(TwoFloats());
  // 0.1 as MindSpore makes it float32; the output of float64 says that it was a number.
  Tensor x(kF64, {2}), y(kF32, {}, {0.1F}), z(kF64, {2});
  for (const double number : {0.1, -2.5e-7, 1e30, 3.0}) {
    y.Fill(number);
    Row row({{x, "float64"}, {y, "float32"}, {z, "float64"}});
    const OpwrightAotCall call = row.Call();
    Arena arena(nullptr);
    MindSporeArguments given(op.def(), call, arena);
    EXPECT_EQ(TextOf(given.TakeCall()), "");
    EXPECT_TRUE(given.inputs()[1].tensors[0].dtype == kWeakFloat);
    EXPECT_EQ(DoubleAt(given.inputs()[1]), number);
  }
}

TEST(MindSporeNumbers, InAGradientTheyAreTensorsOfTheColumn) {
  TestOp op(TwoFloats());
  Tensor x(kF64, {2}), y(kF32, {}, {0.1F}), z(kF64, {2}), grad(kF64, {2}), gx(kF64, {2}),
      gy(kF32, {});
  Row row({{x, "float64"},
           {y, "float32"},
           {z, "float64"},
           {grad, "float64"},
           {gx, "float64"},
           {gy, "float32"}});
  const OpwrightAotCall call = row.Call();
  Arena arena(nullptr);
  MindSporeArguments given(op.def(), call, arena);
  EXPECT_EQ(TextOf(given.TakeGradient(kGradient)), "");
  EXPECT_TRUE(given.inputs()[1].tensors[0].dtype == kF64);
  EXPECT_EQ(DoubleAt(given.inputs()[1]), 0.1);
}

TEST(MindSporeNumbers, InfinityAndNanStay) {
  EXPECT_EQ(entries::AsWritten(INFINITY), INFINITY);
  EXPECT_EQ(entries::AsWritten(-INFINITY), -INFINITY);
  EXPECT_TRUE(std::isnan(entries::AsWritten(NAN)));
  EXPECT_TRUE(std::signbit(entries::AsWritten(-0.0F)));
}

}  // namespace
}  // namespace opwright::test

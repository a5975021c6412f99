// SPDX-License-Identifier: Apache-2.0
//
// One row of tensors without names, as an operator's inputs and outputs.
#include "entries/mindspore/arguments.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "entries/aot.h"
#include "metadef/testing.h"
#include "support/test_op.h"

namespace opwright::test {
namespace {

using entries::MindSporeArguments;
using metadef::Float;
using metadef::Param1;

std::string TextOf(const opwright::Status& status) {
  return status.ok() ? "" : status.error().Text();
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

}  // namespace
}  // namespace opwright::test

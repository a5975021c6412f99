// SPDX-License-Identifier: Apache-2.0
//
// shape_rule "kernel": what InferShape says, forgets or gets wrong.
#include <gtest/gtest.h>

#include "base/text.h"
#include "metadef/testing.h"
#include "support/test_op.h"

namespace opwright::test {
namespace {

using metadef::Float;

std::string TwoOutputs() {
  return metadef::Op(Float("x"), Float("values") + ", " + Float("counts", "[-1]"),
                     R"(, "shape_rule": "kernel", "attr": [{"name": "k", "type": "int"}])", "top");
}

void Set(const OpwrightCall& call, int32_t output, const Dims& shape) {
  call.set_shape(call.frame, output, static_cast<int32_t>(shape.size()), shape.data());
}

TEST(KernelRule, InferShapeSeesInputsAndAttributes) {
  TestOp op(TwoOutputs());
  op.WithInferShape([](const OpwrightCall& call) {
    EXPECT_EQ(call.outputs, nullptr);
    const OpwrightTensor& x = call.inputs[0].tensors[0];
    Set(call, 0, {x.shape[0], call.attrs[0].value.i});
    Set(call, 1, {x.shape[0]});
  });
  Tensor x(kF32, {4, 9});
  EXPECT_EQ(op.Infer({x}, {IntAttr(3)}), "float32[4, 3]; float32[4]");
}

TEST(KernelRule, AScalarShapeIsAShape) {
  TestOp op(metadef::Op(Float("x"), Float("z"), R"(, "shape_rule": "kernel")", "f"));
  op.WithInferShape([](const OpwrightCall& call) { Set(call, 0, {}); });
  Tensor x(kF32, {4});
  EXPECT_EQ(op.Infer({x}), "float32[]");
}

TEST(KernelRule, AnOutputThatInferShapeForgetsIsNamed) {
  TestOp op(TwoOutputs());
  op.WithInferShape([](const OpwrightCall& call) { Set(call, 0, {1}); });
  Tensor x(kF32, {4});
  EXPECT_EQ(op.Infer({x}, {IntAttr(1)}),
            "top: InferShape did not set the shape of output counts [CL005]");
}

TEST(KernelRule, ANegativeDimensionIsShown) {
  TestOp op(metadef::Op(Float("x"), Float("z"), R"(, "shape_rule": "kernel")", "f"));
  op.WithInferShape([](const OpwrightCall& call) { Set(call, 0, {2, -3}); });
  Tensor x(kF32, {4});
  EXPECT_EQ(op.Infer({x}), "f: InferShape gave output z the shape [2, -3] [CL005]");
}

TEST(KernelRule, AShapeThatNoTensorHasIsShown) {
  TestOp op(metadef::Op(Float("x"), Float("z"), R"(, "shape_rule": "kernel")", "f"));
  op.WithInferShape(
      [](const OpwrightCall& call) { Set(call, 0, {int64_t{1} << 40, int64_t{1} << 40}); });
  Tensor x(kF32, {4});
  const std::string text = op.Infer({x});
  EXPECT_NE(text.find("[1099511627776, 1099511627776]"), text.npos) << text;
  op.WithInferShape([](const OpwrightCall& call) { Set(call, 0, Dims(40, 1)); });
  EXPECT_NE(op.Infer({x}).find("CL005"), std::string::npos);
}

TEST(KernelRule, AShapeThatTheOutputsOwnListForbidsIsRefused) {
  TestOp op(metadef::Op(Float("x", R"(["n"])"), Float("z", R"(["n", -1])"),
                        R"(, "shape_rule": "kernel")", "f"));
  Dims given;
  op.WithInferShape([&](const OpwrightCall& call) { Set(call, 0, given); });
  Tensor x(kF32, {4});
  given = {4, 2};
  EXPECT_EQ(op.Infer({x}), "float32[4, 2]");
  given = {4};
  EXPECT_EQ(op.Infer({x}),
            "f: InferShape gave output z the shape [4], the metadef says [\"n\", -1] [CL005]");
  given = {5, 2};
  EXPECT_EQ(op.Infer({x}),
            "f: InferShape gave output z the shape [5, 2], the metadef says [\"n\", -1] [CL005]");
}

TEST(KernelRule, AClassWithoutInferShapeIsNamed) {
  TestOp op(metadef::Op(Float("x"), Float("z"), R"(, "shape_rule": "kernel")", "f"));
  Tensor x(kF32, {4});
  EXPECT_EQ(op.Infer({x}), "f: shape_rule is \"kernel\" and the kernel has no InferShape [CL005]");
}

TEST(KernelRule, OtherOutputsMayHaveRulesOfTheirOwn) {
  TestOp op(metadef::Op(Float("x"), Float("a") + ", " + Float("b"),
                        R"j(, "shape_rule": {"a": "kernel", "b": "same(x)"})j", "f"));
  op.WithInferShape([](const OpwrightCall& call) { Set(call, 0, {7}); });
  Tensor x(kF32, {4});
  EXPECT_EQ(op.Infer({x}), "float32[7]; float32[4]");
}

TEST(KernelRule, NumbersOfOutputsThatAreNotThereAreIgnored) {
  TestOp op(metadef::Op(Float("x"), Float("z"), R"(, "shape_rule": "kernel")", "f"));
  op.WithInferShape([](const OpwrightCall& call) {
    Set(call, -1, {1});
    Set(call, 1, {1});
    Set(call, 0, {2});
  });
  Tensor x(kF32, {4});
  EXPECT_EQ(op.Infer({x}), "float32[2]");
}

}  // namespace
}  // namespace opwright::test

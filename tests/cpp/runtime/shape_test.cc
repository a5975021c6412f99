// SPDX-License-Identifier: Apache-2.0
//
// Inputs' shapes against the metadef.
#include "runtime/shape.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "metadef/testing.h"
#include "support/test_op.h"

namespace opwright::test {
namespace {

using metadef::Float;

// x of the shape list, z the same.
std::string CallWith(const std::string& list, Dims shape) {
  TestOp op(
      metadef::Op(Float("x", list), Float("z", list), R"j(, "shape_rule": "same(x)")j", "relu"));
  Tensor x(kF32, std::move(shape));
  return op.Infer({x});
}

TEST(BindShapes, RankMustAgree) {
  EXPECT_EQ(CallWith("[-1, -1]", {2, 3}), "float32[2, 3]");
  EXPECT_EQ(
      CallWith("[-1, -1]", {2}),
      "relu: input x has shape [2], the metadef says [-1, -1]: rank 2 expected, got 1 [CL004]");
  EXPECT_EQ(CallWith("[]", {}), "float32[]");
  EXPECT_EQ(CallWith("[]", {1}),
            "relu: input x has shape [1], the metadef says []: rank 0 expected, got 1 [CL004]");
}

TEST(BindShapes, MinusOneIsRankOneAndTheMessageNamesMinusTwo) {
  EXPECT_EQ(CallWith("[-1]", {6}), "float32[6]");
  EXPECT_EQ(CallWith("[-1]", {2, 3}),
            "relu: input x has shape [2, 3], the metadef says [-1]: rank 1 expected, got 2; [-1] "
            "is rank 1, write [-2] for "
            "any rank [CL004]");
}

TEST(BindShapes, MinusTwoIsAnyRank) {
  for (const Dims& shape :
       {Dims{}, {0}, {3}, {2, 3}, {1, 2, 3, 4, 5, 6, 7}, Dims(OPWRIGHT_MAX_RANK, 1)})
    EXPECT_TRUE(CallWith("[-2]", shape).starts_with("float32["));
}

TEST(BindShapes, FixedDimensionsMustAgree) {
  EXPECT_EQ(CallWith("[-1, 3]", {5, 3}), "float32[5, 3]");
  EXPECT_EQ(CallWith("[-1, 3]", {5, 2}),
            "relu: input x has shape [5, 2], the metadef says [-1, 3]: dimension 1 must be 3, got "
            "2 [CL004]");
}

TEST(BindShapes, NamedDimensionsAgreeWhereverTheyStandAndTheMessageNamesBoth) {
  TestOp op(metadef::Op(Float("x", R"(["m", "k"])") + ", " + Float("w", R"(["k", "n"])"),
                        Float("z", R"(["m", "n"])"), R"(, "shape_rule": ["m", "n"])", "matmul"));
  Tensor x(kF32, {2, 3}), w(kF32, {3, 4}), bad(kF32, {5, 4});
  EXPECT_EQ(op.Infer({x, w}), "float32[2, 4]");
  EXPECT_EQ(op.Infer({x, bad}),
            "matmul: input w has shape [5, 4], the metadef says [\"k\", \"n\"]: dimension 0 is k = "
            "3 (from x), got 5 [CL004]");
}

TEST(BindShapes, ANameTwiceInOneShapeIsASquare) {
  EXPECT_EQ(CallWith(R"(["n", "n"])", {4, 4}), "float32[4, 4]");
  const std::string text = CallWith(R"(["n", "n"])", {4, 5});
  EXPECT_NE(text.find("dimension 1 is n = 4 (from x), got 5"), text.npos) << text;
}

TEST(BindShapes, ANamedDimensionOfSizeZeroIsBoundToZero) {
  TestOp op(metadef::Op(Float("x", R"(["n"])") + ", " + Float("y", R"(["n"])"),
                        Float("z", R"(["n"])"), "", "add"));
  Tensor none(kF32, {0}), two(kF32, {2});
  EXPECT_EQ(op.Infer({none, none}), "float32[0]");
  const std::string text = op.Infer({none, two});
  EXPECT_NE(text.find("n = 0 (from x), got 2"), text.npos) << text;
}

TEST(BindShapes, LeadingDotsAreAnyFurtherDimensionsInFront) {
  EXPECT_EQ(CallWith(R"(["...", "n"])", {7}), "float32[7]");
  EXPECT_EQ(CallWith(R"(["...", "n"])", {2, 3, 7}), "float32[2, 3, 7]");
  EXPECT_EQ(CallWith(R"(["...", 3, "n"])", {9, 3, 7}), "float32[9, 3, 7]");
  EXPECT_EQ(CallWith(R"(["...", 3, "n"])", {7}),
            "relu: input x has shape [7], the metadef says [\"...\", 3, \"n\"]: rank at least 2 "
            "expected, got 1 [CL004]");
}

TEST(BindShapes, AllTensorsOfADynamicInputAreChecked) {
  TestOp op(metadef::Op(Float("xs", R"(["n"])", R"(, "param_type": "dynamic")"),
                        Float("z", R"(["n"])"), R"(, "shape_rule": ["n"])", "stack"));
  Tensor a(kF32, {3}), b(kF32, {3}), c(kF32, {4});
  EXPECT_EQ(op.Infer({Arg{&a, &b}}), "float32[3]");
  EXPECT_NE(op.Infer({Arg{&a, &b, &c}}).find("n = 3 (from xs), got 4"), std::string::npos);
}

TEST(BindShapes, AnAbsentOptionalInputBindsNothing) {
  TestOp op(metadef::Op(
      Float("x", "[-1]") + ", " + Float("bias", R"(["n"])", R"(, "param_type": "optional")"),
      Float("z", "[-1]"), R"(, "shape_rule": ["n"])", "biased"));
  Tensor x(kF32, {3}), bias(kF32, {5});
  EXPECT_EQ(op.Infer({x, bias}), "float32[5]");
  EXPECT_EQ(op.Infer({x, Arg()}),
            "biased: the shape of output z by [\"n\"]: n is not known: the input that has it is "
            "absent [CL005]");
}

TEST(CheckTensors, TensorsOfAnotherDeviceAreRefusedWithItsType) {
  TestOp op(metadef::Op(Float("x"), Float("z"), R"j(, "shape_rule": "same(x)")j", "relu"));
  Tensor x(kF32, {2});
  OpwrightTensor raw = x.raw();
  raw.device_type = 2;
  EXPECT_EQ(op.Infer({Arg(raw)}),
            "relu: input x is on device type 2, this library runs on the CPU; copy it there first "
            "[CL007]");
}

TEST(CheckTensors, ImpossibleTensorsAreRefused) {
  TestOp op(metadef::Op(Float("x"), Float("z"), R"j(, "shape_rule": "same(x)")j", "relu"));
  Tensor x(kF32, {2});
  Tensor z(kF32, {2});
  OpwrightTensor raw = x.raw();
  raw.data = nullptr;
  EXPECT_EQ(op.Run({Arg(raw)}, {z}), "relu: input x has no memory [CL007]");
  raw = x.raw();
  raw.ndim = OPWRIGHT_MAX_RANK + 1;
  EXPECT_EQ(op.Infer({Arg(raw)}), "relu: input x has rank 33, at most 32 is supported [CL004]");
  int64_t huge[] = {int64_t{1} << 40, int64_t{1} << 40};
  raw.ndim = 2;
  raw.shape = huge;
  EXPECT_EQ(op.Infer({Arg(raw)}),
            "relu: input x has the impossible shape [1099511627776, 1099511627776] [CL004]");
  huge[0] = -1;
  EXPECT_NE(op.Infer({Arg(raw)}).find("impossible shape [-1, 1099511627776]"), std::string::npos);
}

TEST(CheckTensors, AFormatOtherThanNdIsRefusedAtTheCall) {
  TestOp op(metadef::Op(Float("x", "[-2]", R"(, "format": ["NC1HWC0"])"), Float("z"),
                        R"j(, "shape_rule": "same(x)")j", "relu"));
  Tensor x(kF32, {2});
  const std::string text = op.Infer({x});
  EXPECT_NE(text.find("[CL009]"), text.npos) << text;
}

}  // namespace
}  // namespace opwright::test

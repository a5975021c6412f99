// SPDX-License-Identifier: Apache-2.0
#include "runtime/signature.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "metadef/testing.h"
#include "support/test_op.h"

namespace opwright::test {
namespace {

using metadef::Param1;

std::string Add(std::string_view dtypes, std::string_view more = "") {
  return metadef::Op(Param1("x", dtypes, "[-2]") + ", " + Param1("y", dtypes, "[-2]"),
                     Param1("z", dtypes, "[-2]"), more, "element_add");
}

std::string ColumnOf(const std::string& metadef, OpwrightDType x, OpwrightDType y) {
  TestOp op(metadef);
  Tensor a(x, {2});
  Tensor b(y, {2});
  return op.Column({a, b});
}

TEST(SelectColumn, TheExactColumnIsTaken) {
  const std::string op = Add(R"(["float32", "float16", "bfloat16", "int32", "bool", "complex64"])");
  EXPECT_EQ(ColumnOf(op, kF32, kF32), "0");
  EXPECT_EQ(ColumnOf(op, kF16, kF16), "1");
  EXPECT_EQ(ColumnOf(op, kBf16, kBf16), "2");
  EXPECT_EQ(ColumnOf(op, kI32, kI32), "3");
  EXPECT_EQ(ColumnOf(op, kBool, kBool), "4");
  EXPECT_EQ(ColumnOf(op, kC64, kC64), "5");
}

TEST(SelectColumn, OneDtypeAloneIsNeverConverted) {
  const std::string op = Add(R"(["float32"])");
  for (const OpwrightDType dtype : {kBf16, kF16, kF64, kI8, kI32, kBool, kC64}) {
    const std::string text = ColumnOf(op, dtype, dtype);
    EXPECT_TRUE(text.starts_with("element_add: dtype ")) << text;
    EXPECT_NE(text.find("of input x not in metadef (float32)"), text.npos) << text;
    EXPECT_NE(text.find("[CL002]"), text.npos) << text;
  }
}

TEST(SelectColumn, TheMessageNamesTheDtypeAsNumpyDoes) {
  EXPECT_EQ(ColumnOf(Add(R"(["float32", "float64"])"), kBf16, kBf16),
            "element_add: dtype bfloat16 of input x not in metadef (float32, float64); convert it, "
            "or list the dtype "
            "[CL002]");
}

TEST(SelectColumn, EveryListedDtypeIsNamedOnceThoughItsNameIsPartOfAnother) {
  const std::string z = Param1("z", R"(["float32"])", "[-2]");
  const std::string x = Param1("x", R"(["uint8", "int8", "bfloat16", "float16", "uint8"])", "[-2]");
  const std::string y = Param1("y", R"(["uint8", "int8", "bfloat16", "float16", "int8"])", "[-2]");
  const std::string rule = R"j(, "shape_rule": "same(x)")j";
  EXPECT_EQ(ColumnOf(metadef::Op(x + ", " + y, z, rule, "element_add"), kF32, kF32),
            "element_add: dtype float32 of input x not in metadef (uint8, int8, bfloat16, "
            "float16); convert it, or list the dtype [CL002]");
}

TEST(SelectColumn, DtypesThatAreListedButNotTogetherAreShownWithTheColumns) {
  const std::string metadef = metadef::Op(Param1("x", R"(["float32", "int32"])", "[-2]") + ", " +
                                              Param1("i", R"(["int32", "int64"])", "[-2]"),
                                          Param1("z", R"(["float32", "int32"])", "[-2]", ""),
                                          R"j(, "shape_rule": "same(x)")j");
  EXPECT_EQ(ColumnOf(metadef, kF32, kI64),
            "test_op: no dtype column for x float32, i int64; the metadef has (float32, int32); "
            "(int32, int64) [CL002]");
}

TEST(SelectColumn, AFloatWhereNoneMayBeIsNoMixture) {
  const std::string metadef = metadef::Op(Param1("x", R"(["float32", "float64"])", "[-2]") + ", " +
                                              Param1("mask", R"(["bool", "bool"])", "[-2]"),
                                          Param1("z", R"(["float32", "float64"])", "[-2]"),
                                          R"j(, "shape_rule": "same(x)")j");
  EXPECT_EQ(ColumnOf(metadef, kF64, kF32),
            "test_op: dtype float32 of input mask not in metadef (bool); convert it, or list the "
            "dtype [CL002]");
}

TEST(SelectColumn, AFloatThatNoKernelHasIsNeverConverted) {
  const std::string float64 = Add(R"(["float64"])");
  const std::string to_float32 = Add(R"(["float32"])", R"(, "mixed_dtypes": "float32")");
  for (const uint8_t bits : {8, 24, 48, 80, 128})
    for (const std::string& op : {float64, to_float32}) {
      const std::string text = ColumnOf(op, {kOpwrightFloat, bits, 1}, kF64);
      EXPECT_NE(text.find(StrCat("dtype float", static_cast<int>(bits), " of input x")), text.npos)
          << text;
      EXPECT_NE(text.find("[CL002]"), text.npos) << text;
    }
  const std::string text = ColumnOf(float64, {kOpwrightFloat, 64, 2}, kF64);
  EXPECT_NE(text.find("dtype float64x2 of input x not in metadef (float64)"), text.npos) << text;
}

TEST(SelectColumn, MixedFloatsGoToTheFirstColumnThatHoldsAllWithoutLoss) {
  EXPECT_EQ(ColumnOf(Add(R"(["float16", "float32", "float64"])"), kF16, kF32), "1");
  EXPECT_EQ(ColumnOf(Add(R"(["float16", "float64", "float32"])"), kF16, kF32), "1");
  EXPECT_EQ(ColumnOf(Add(R"(["float32", "float64"])"), kF64, kF32), "1");
  EXPECT_EQ(ColumnOf(Add(R"(["float16", "bfloat16", "float32"])"), kF16, kBf16), "2")
      << "neither holds the other";
}

TEST(SelectColumn, MixedFloatsThatNoColumnHoldsAreRefused) {
  EXPECT_EQ(ColumnOf(Add(R"(["float16", "bfloat16"])"), kF16, kBf16),
            "element_add: mixed float dtypes (x float16, y bfloat16) and no column that holds them "
            "all without loss; the "
            "metadef has (float16, float16); (bfloat16, bfloat16) [CL003]");
  const std::string narrow = ColumnOf(Add(R"(["float32"])"), kF32, kF64);
  EXPECT_NE(narrow.find("[CL003]"), narrow.npos) << narrow;
}

TEST(SelectColumn, ThePolicyFloat32TakesEverythingToFloat32) {
  const std::string op =
      Add(R"(["float16", "float32", "float64"])", R"(, "mixed_dtypes": "float32")");
  EXPECT_EQ(ColumnOf(op, kF16, kF32), "1");
  EXPECT_EQ(ColumnOf(op, kF64, kF16), "1");
  EXPECT_EQ(ColumnOf(op, kF64, kF64), "2") << "not mixed: the exact column";
  const std::string none =
      ColumnOf(Add(R"(["float16", "float64"])", R"(, "mixed_dtypes": "float32")"), kF16, kF64);
  EXPECT_NE(none.find("no column of float32"), none.npos) << none;
}

TEST(SelectColumn, ThePolicyErrorRefusesMixedFloats) {
  const std::string op = Add(R"(["float16", "float32"])", R"(, "mixed_dtypes": "error")");
  EXPECT_EQ(ColumnOf(op, kF32, kF32), "1");
  EXPECT_EQ(ColumnOf(op, kF16, kF32),
            "element_add: mixed float dtypes (x float16, y float32) and the metadef says "
            "\"mixed_dtypes\": \"error\"; "
            "convert them to one [CL003]");
}

TEST(SelectColumn, PromotionLeavesIntegersAlone) {
  const std::string metadef = metadef::Op(
      Param1("x", R"(["float32"])", "[-2]") + ", " + Param1("w", R"(["float32"])", "[-2]") + ", " +
          Param1("i", R"(["int32"])", "[-2]"),
      Param1("z", R"(["float32"])", "[-2]"), R"j(, "shape_rule": "same(x)")j");
  TestOp op(metadef);
  Tensor x(kF16, {2}), w(kF32, {2}), i(kI32, {2}), j(kI64, {2});
  EXPECT_EQ(op.Column({x, w, i}), "0");
  EXPECT_NE(op.Column({x, w, j}).find("CL00"), std::string::npos);
}

TEST(SelectColumn, AWeakNumberTakesTheColumnThatTheTensorsChoose) {
  const std::string metadef = Add(R"(["float64", "float32", "int32", "complex64"])",
                                  R"j(, "shape_rule": "broadcast(x, y)")j");
  for (const auto& [dtype, column] :
       {std::pair(kF64, "0"), {kF32, "1"}, {kI32, "2"}, {kC64, "3"}}) {
    TestOp op(metadef);
    Tensor x(dtype, {2});
    Tensor two = Tensor::Weak(int64_t{2});
    EXPECT_EQ(op.Column({x, two}), column);
    EXPECT_EQ(op.Column({two, x}), column);
  }
  TestOp op(metadef);
  Tensor x(kI32, {2});
  Tensor half = Tensor::Weak(0.5);
  const std::string text = op.Column({x, half});
  EXPECT_NE(text.find("CL002"), text.npos) << "a float number is no int32: " << text;
}

TEST(SelectColumn, WeakNumbersAreNoReasonToMix) {
  TestOp op(Add(R"(["float16", "float32"])",
                R"j(, "mixed_dtypes": "error", "shape_rule": "broadcast(x, y)")j"));
  Tensor x(kF16, {2});
  Tensor half = Tensor::Weak(0.5);
  EXPECT_EQ(op.Column({x, half}), "0");
}

TEST(SelectColumn, AWeakNumberReachesTheKernelInTheColumnsDtype) {
  TestOp op(Add(R"(["float32", "float16", "int32", "uint8", "complex64"])",
                R"j(, "shape_rule": "broadcast(x, y)")j"),
            [](const OpwrightCall& call) { Out(call, 0, 0, In(call, 0, 0) + In(call, 1, 0)); });
  for (const OpwrightDType dtype : {kF32, kF16, kI32, kU8, kC64}) {
    Tensor x(dtype, {1}, {3});
    Tensor y = Tensor::Weak(int64_t{4});
    Tensor z(dtype, {1}, {0});
    EXPECT_EQ(op.Run({x, y}, {z}), "");
    EXPECT_EQ(z.Values(), std::vector<double>{7});
  }
}

TEST(SelectColumn, AWeakNumberThatItsColumnCannotHoldIsRefused) {
  TestOp op(Add(R"(["uint8", "int32"])", R"j(, "shape_rule": "broadcast(x, y)")j"));
  const auto run = [&](OpwrightDType dtype, int64_t value) {
    Tensor x(dtype, {1}, {1});
    Tensor y = Tensor::Weak(value);
    Tensor z(dtype, {1}, {0});
    return op.Run({x, y}, {z});
  };
  EXPECT_EQ(run(kU8, 255), "");
  EXPECT_EQ(run(kU8, 256),
            "element_add: the number 256 of input y is out of range for uint8 [CL002]");
  EXPECT_EQ(run(kU8, -1),
            "element_add: the number -1 of input y is out of range for uint8 [CL002]");
  EXPECT_EQ(run(kI32, int64_t{1} << 31),
            "element_add: the number 2147483648 of input y is out of range for int32 [CL002]");
  EXPECT_EQ(run(kI32, -(int64_t{1} << 31)), "");
}

TEST(SelectColumn, CountsAreInTheUsersTerms) {
  TestOp op(Add(R"(["float32"])"));
  Tensor x(kF32, {2});
  EXPECT_EQ(op.Column({x}), "element_add: 1 input given, the metadef lists 2 [CL001]");
  EXPECT_EQ(op.Column({x, x, x}), "element_add: 3 inputs given, the metadef lists 2 [CL001]");
  EXPECT_EQ(op.Column({x, Arg()}), "element_add: input y is required and was not given [CL001]");
  EXPECT_EQ(op.Column({x, Arg{&x, &x}}),
            "element_add: input y takes one tensor and was given a list [CL001]");
}

TEST(SelectColumn, AnAbsentOptionalInputHasNoSay) {
  const std::string metadef = metadef::Op(
      Param1("x", R"(["float32", "float64"])", "[-2]") + ", " +
          Param1("bias", R"(["float32", "float64"])", "[-2]", R"(, "param_type": "optional")"),
      Param1("z", R"(["float32", "float64"])", "[-2]"), R"j(, "shape_rule": "same(x)")j");
  TestOp op(metadef);
  Tensor x(kF64, {2});
  EXPECT_EQ(op.Column({x, Arg()}), "1");
}

TEST(SelectColumn, AllTensorsOfADynamicInputCount) {
  const std::string metadef = metadef::Op(
      Param1("xs", R"(["float32", "float64"])", "[-2]", R"(, "param_type": "dynamic")"),
      Param1("z", R"(["float32", "float64"])", "[-2]"), R"j(, "shape_rule": "broadcast(xs)")j");
  TestOp op(metadef);
  Tensor a(kF32, {2}), b(kF64, {2}), c(kI32, {2});
  EXPECT_EQ(op.Column({Arg{&a, &a}}), "0");
  EXPECT_EQ(op.Column({Arg{&b, &a, &b}}), "1");
  EXPECT_NE(op.Column({Arg{&a, &c}}).find("dtype int32 of input xs"), std::string::npos);
}

TEST(SelectColumn, AnArgumentWithoutTensorsBehindItsCountIsRefused) {
  TestOp op(Add(R"(["float32"])"), {});
  std::vector<OpwrightArgument> inputs(2, OpwrightArgument{nullptr, 1});
  const Expected<int32_t> column = SelectColumn(op.def(), inputs.data(), 2);
  ASSERT_FALSE(column.ok());
  EXPECT_EQ(column.error().Text(),
            "element_add: input x has no tensors behind its count of 1 [CL001]");
}

}  // namespace
}  // namespace opwright::test

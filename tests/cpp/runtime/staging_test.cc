// SPDX-License-Identifier: Apache-2.0
//
// What the kernel sees of tensors with any strides, and what comes back to the caller.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "metadef/testing.h"
#include "support/test_op.h"

namespace opwright::test {
namespace {

using metadef::Float;
using metadef::Param1;

// z = 10 x, element by element, by dense addressing alone.
void TimesTen(const OpwrightCall& call) {
  const OpwrightTensor& x = call.inputs[0].tensors[0];
  for (int64_t i = 0; i < SizeOf(x); ++i) {
    const auto* at = static_cast<const char*>(x.data) + x.byte_offset + i * x.dtype.bits / 8;
    auto* to = static_cast<char*>(call.outputs[0].tensors[0].data) +
               call.outputs[0].tensors[0].byte_offset + i * x.dtype.bits / 8;
    WriteElement(to, x.dtype, 10 * ReadElement(at, x.dtype));
  }
}

std::string Unary(std::string_view more = "") {
  return metadef::Op(Float("x"), Float("z"), StrCat(R"j(, "shape_rule": "same(x)")j", more), "f");
}

std::vector<double> TenTimes(std::vector<double> values) {
  for (double& value : values) value *= 10;
  return values;
}

class StridedInput : public testing::TestWithParam<std::pair<Dims, Dims>> {};

TEST_P(StridedInput, GivesTheValuesOfADenseOne) {
  const auto& [shape, strides] = GetParam();
  Tensor x = Tensor::Strided(kF32, shape, strides, 12, 32);
  Tensor z(kF32, shape);
  TestOp op(Unary(), TimesTen);
  const std::vector<double> before = x.Values();
  EXPECT_EQ(op.Run({x}, {z}), "");
  EXPECT_EQ(z.Values(), TenTimes(before));
  EXPECT_EQ(x.Values(), before);
}

TEST_P(StridedInput, AsAnOutputItIsWrittenBackAndNothingElseIs) {
  const auto& [shape, strides] = GetParam();
  const bool shared = std::find(strides.begin(), strides.end(), 0) != strides.end();
  Tensor x(kF32, shape);
  Tensor z = Tensor::Strided(kF32, shape, strides, 12, 32);
  std::vector<double> all(32);
  for (size_t i = 0; i < 32; ++i) all[i] = ReadElement(z.first() - 48 + 4 * i, kF32);
  TestOp op(Unary(), TimesTen);
  const std::string error = op.Run({x}, {z});
  if (shared) {
    EXPECT_NE(error.find("several elements in one place of memory"), error.npos) << error;
    return;
  }
  EXPECT_EQ(error, "");
  EXPECT_EQ(z.Values(), TenTimes(x.Values()));
  z.SetAll(std::vector<double>(static_cast<size_t>(z.Size()), -1));
  size_t untouched = 0;
  for (size_t i = 0; i < 32; ++i) untouched += ReadElement(z.first() - 48 + 4 * i, kF32) == all[i];
  EXPECT_EQ(untouched, 32 - static_cast<size_t>(z.Size()));
}

INSTANTIATE_TEST_SUITE_P(
    Strides, StridedInput,
    testing::Values(std::pair(Dims{4}, Dims{2}), std::pair(Dims{4}, Dims{-1}),
                    std::pair(Dims{4}, Dims{-3}), std::pair(Dims{4}, Dims{0}),
                    std::pair(Dims{2, 3}, Dims{1, 2}), std::pair(Dims{2, 3}, Dims{0, 1}),
                    std::pair(Dims{2, 3}, Dims{3, 0}), std::pair(Dims{2, 3}, Dims{-3, 1}),
                    std::pair(Dims{2, 3, 2}, Dims{1, 4, 2}), std::pair(Dims{3, 2}, Dims{4, 1}),
                    std::pair(Dims{1, 4}, Dims{9, -2}), std::pair(Dims{2, 1, 2}, Dims{-5, 77, 2})));

// The addresses that the kernel saw.
struct Seen {
  const void* x = nullptr;
  const void* z = nullptr;
  Dims strides;
  bool has_strides = false;
};

TestOp::Body Look(Seen* seen) {
  return [seen](const OpwrightCall& call) {
    const OpwrightTensor& x = call.inputs[0].tensors[0];
    seen->x = static_cast<const char*>(x.data) + x.byte_offset;
    const OpwrightTensor& z = call.outputs[0].tensors[0];
    seen->z = static_cast<const char*>(z.data) + z.byte_offset;
    seen->has_strides = x.strides != nullptr && z.strides != nullptr;
    if (x.strides != nullptr) seen->strides.assign(x.strides, x.strides + x.ndim);
    TimesTen(call);
  };
}

TEST(Staging, DenseTensorsAreNotCopied) {
  Seen seen;
  TestOp op(Unary(), Look(&seen));
  Tensor x(kF32, {2, 3}), z(kF32, {2, 3});
  EXPECT_EQ(op.Run({x}, {z}), "");
  EXPECT_EQ(seen.x, x.first());
  EXPECT_EQ(seen.z, z.first());
}

TEST(Staging, OddStridesOfSizeOneAreDenseAndTheKernelSeesDenseOnes) {
  for (const auto& [shape, strides, dense] : {std::tuple(Dims{1, 7}, Dims{1, 1}, Dims{7, 1}),
                                              {Dims{3, 1}, Dims{1, 5}, Dims{1, 1}},
                                              {Dims{1, 1}, Dims{-8, 0}, Dims{1, 1}}}) {
    Seen seen;
    TestOp op(Unary(), Look(&seen));
    Tensor x = Tensor::Strided(kF32, shape, strides, 0, 16);
    Tensor z = Tensor::Strided(kF32, shape, strides, 0, 16);
    EXPECT_EQ(op.Run({x}, {z}), "");
    EXPECT_EQ(seen.x, x.first());
    EXPECT_EQ(seen.z, z.first());
    EXPECT_EQ(seen.strides, dense);
    EXPECT_EQ(z.Values(), TenTimes(x.Values()));
  }
}

TEST(Staging, NullStridesAreDenseAndTheKernelSeesStrides) {
  Seen seen;
  TestOp op(Unary(), Look(&seen));
  Tensor x(kF32, {2, 3}), z(kF32, {2, 3});
  x.WithoutStrides();
  z.WithoutStrides();
  EXPECT_EQ(op.Run({x}, {z}), "");
  EXPECT_EQ(seen.x, x.first());
  ASSERT_TRUE(seen.has_strides);
  EXPECT_EQ(seen.strides, (Dims{3, 1}));
  EXPECT_EQ(z.Values(), TenTimes(x.Values()));
}

TEST(Staging, AByteOffsetIsPartOfTheAddress) {
  Seen seen;
  TestOp op(Unary(), Look(&seen));
  Tensor x(kF32, {3}), z(kF32, {3});
  x.WithByteOffset(16);
  z.WithByteOffset(32);
  EXPECT_EQ(op.Run({x}, {z}), "");
  EXPECT_EQ(seen.x, x.first());
  EXPECT_EQ(seen.z, z.first());
  EXPECT_EQ(z.Values(), TenTimes(x.Values()));
}

TEST(Staging, MisalignedMemoryIsCopiedToAlignedOne) {
  for (const OpwrightDType dtype : {kF16, kF32, kF64, kC128}) {
    TestOp op(metadef::Op(Param1("x", R"(["float16", "float32", "float64", "complex128"])", "[-2]"),
                          Param1("z", R"(["float16", "float32", "float64", "complex128"])", "[-2]"),
                          "", "f"),
              [](const OpwrightCall& call) {
                EXPECT_EQ(reinterpret_cast<uintptr_t>(call.inputs[0].tensors[0].data) %
                              std::min(call.inputs[0].tensors[0].dtype.bits / 8, 8),
                          0u);
                TimesTen(call);
              });
    Tensor x(dtype, {5}), z(dtype, {5});
    const std::vector<double> values = x.Values();
    x.Misalign(1);
    z.Misalign(1);
    EXPECT_EQ(op.Run({x}, {z}), "");
    EXPECT_EQ(z.Values(), TenTimes(values));
  }
}

TEST(Staging, ZeroDimensionalTensorsHaveOneElement) {
  TestOp op(Unary(), TimesTen);
  Tensor x(kF32, {}, {4}), z(kF32, {}, {0});
  EXPECT_EQ(op.Run({x}, {z}), "");
  EXPECT_EQ(z.Values(), std::vector<double>{40});
  x.WithoutStrides();
  z.WithoutStrides();
  EXPECT_EQ(op.Run({x}, {z}), "");
}

TEST(Empty, AKernelWhoseOutputsAreAllEmptyIsNotCalled) {
  TestOp op(Unary());
  for (const Dims& shape : {Dims{0}, {0, 4}, {4, 0}, {2, 0, 3}}) {
    Tensor x(kF32, shape), z(kF32, shape);
    EXPECT_EQ(op.Run({x}, {z}), "");
  }
  EXPECT_EQ(op.calls, 0);
}

TEST(Empty, MemoryOfAnEmptyTensorMayBeNull) {
  TestOp op(Unary());
  Tensor x(kF32, {0});
  OpwrightTensor raw = x.raw();
  raw.data = nullptr;
  EXPECT_EQ(op.Run({Arg(raw)}, {Arg(raw)}), "");
}

TEST(Empty, AKernelWithOneOutputThatIsNotEmptyIsCalled) {
  // The gradient of a bias over no rows: zeros, which the kernel writes.
  TestOp op(metadef::Op(Float("x", R"(["m", "n"])"),
                        Float("z", R"(["m", "n"])") + ", " + Float("sum", R"(["n"])"),
                        R"j(, "shape_rule": {"z": "same(x)", "sum": ["n"]})j", "f"),
            [](const OpwrightCall& call) {
              for (int64_t i = 0; i < 3; ++i) Out(call, 1, i, 0);
            });
  Tensor x(kF32, {0, 3}), z(kF32, {0, 3}), sum(kF32, {3});
  EXPECT_EQ(op.Run({x}, {z, sum}), "");
  EXPECT_EQ(op.calls, 1);
  EXPECT_EQ(sum.Values(), (std::vector<double>{0, 0, 0}));
}

TEST(Overlap, AnOutputInAnInputsMemoryDoesNotChangeWhatIsRead) {
  // z[i] = x[n - 1 - i], in place.
  TestOp op(Unary(), [](const OpwrightCall& call) {
    for (int64_t i = 0; i < 5; ++i) Out(call, 0, i, In(call, 0, 4 - i));
  });
  Tensor x(kF32, {5});
  EXPECT_EQ(op.Run({x}, {x}), "");
  EXPECT_EQ(x.Values(), (std::vector<double>{5, 4, 3, 2, 1}));

  Tensor all(kF32, {6});
  OpwrightTensor low = all.raw();
  OpwrightTensor high = all.raw();
  int64_t shape[] = {5};
  low.shape = high.shape = shape;
  high.byte_offset += 4;
  EXPECT_EQ(op.Run({Arg(low)}, {Arg(high)}), "");
  EXPECT_EQ(all.Values(), (std::vector<double>{1, 5, 4, 3, 2, 1}));
}

TEST(Overlap, OutputsThatShareMemoryAreRefused) {
  TestOp op(metadef::Op(Float("x"), Float("a") + ", " + Float("b"),
                        R"j(, "shape_rule": "same(x)")j", "f"));
  Tensor x(kF32, {2}), z(kF32, {2});
  EXPECT_EQ(op.Run({x}, {z, z}),
            "f: outputs a and b lie in the same memory; pass two of their own [CL008]");
  EXPECT_EQ(op.calls, 0);
}

TEST(Overlap, AnOutputWhoseOwnElementsShareMemoryIsRefused) {
  TestOp op(Unary());
  Tensor x(kF32, {4});
  Tensor z = Tensor::Strided(kF32, {4}, {0}, 0, 4);
  EXPECT_EQ(
      op.Run({x}, {z}),
      "f: output z has several elements in one place of memory; pass one without repeats [CL008]");
  EXPECT_EQ(op.calls, 0);
}

// x += 1 in place, and z = x as it was.
std::string Mutating() {
  return metadef::Op(Float("x") + ", " + Float("y"), Float("z"),
                     R"j(, "shape_rule": "same(x)", "mutates": ["x"])j", "f");
}
void AddInPlace(const OpwrightCall& call) {
  const OpwrightTensor& x = call.inputs[0].tensors[0];
  auto* at = reinterpret_cast<float*>(static_cast<char*>(x.data) + x.byte_offset);
  for (int64_t i = 0; i < SizeOf(x); ++i) {
    Out(call, 0, i, In(call, 1, i));
    at[i] += static_cast<float>(In(call, 1, i));
  }
}

TEST(Mutates, ADenseInputIsWrittenInItsOwnMemory) {
  TestOp op(Mutating(), AddInPlace);
  Tensor x(kF32, {3}), y(kF32, {3}, {10, 20, 30}), z(kF32, {3});
  EXPECT_EQ(op.Run({x, y}, {z}), "");
  EXPECT_EQ(x.Values(), (std::vector<double>{11, 22, 33}));
  EXPECT_EQ(y.Values(), (std::vector<double>{10, 20, 30}));
}

TEST(Mutates, AnInputThatIsNotDenseIsCopiedBack) {
  TestOp op(Mutating(), AddInPlace);
  Tensor x = Tensor::Strided(kF32, {3}, {-2}, 5, 8);
  Tensor y(kF32, {3}, {10, 20, 30}), z(kF32, {3});
  EXPECT_EQ(x.Values(), (std::vector<double>{6, 4, 2}));
  EXPECT_EQ(op.Run({x, y}, {z}), "");
  EXPECT_EQ(x.Values(), (std::vector<double>{16, 24, 32}));
}

TEST(Mutates, AnInputOfAnotherDtypeIsRefused) {
  TestOp op(metadef::Op(Float("x") + ", " + Float("y"), Float("z"),
                        R"j(, "shape_rule": "same(x)", "mutates": ["x"])j", "f"));
  Tensor x(kF16, {3}), y(kF32, {3}), z(kF32, {3});
  const std::string text = op.Run({x, y}, {z});
  EXPECT_EQ(text,
            "f: input x is written by the operator and cannot be converted from float16 to float32 "
            "[CL008]");
}

TEST(Mutates, AnotherInputInItsMemoryIsReadAsItWas) {
  TestOp op(Mutating(), AddInPlace);
  Tensor x(kF32, {3}), z(kF32, {3});
  EXPECT_EQ(op.Run({x, x}, {z}), "");
  EXPECT_EQ(z.Values(), (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(x.Values(), (std::vector<double>{2, 4, 6}));
}

TEST(Mutates, AnOutputInItsMemoryIsRefused) {
  TestOp op(Mutating(), AddInPlace);
  Tensor x(kF32, {3}), y(kF32, {3});
  EXPECT_EQ(op.Run({x, y}, {x}),
            "f: output z and input x, written by the operator, lie in the same memory; pass two of "
            "their own [CL008]");
  EXPECT_EQ(op.calls, 0);
  EXPECT_EQ(x.Values(), (std::vector<double>{1, 2, 3}));
}

TEST(Mutates, TwoInputsInOneMemoryAreRefused) {
  TestOp op(metadef::Op(Float("x") + ", " + Float("y"), Float("z"),
                        R"j(, "shape_rule": "same(x)", "mutates": ["x", "y"])j", "f"),
            AddInPlace);
  Tensor x(kF32, {3}), z(kF32, {3});
  EXPECT_EQ(op.Run({x, x}, {z}),
            "f: inputs x and y, written by the operator, lie in the same memory; pass two of their "
            "own [CL008]");
  EXPECT_EQ(op.calls, 0);
}

TEST(Mutates, AnInputWhoseElementsShareMemoryIsRefused) {
  TestOp op(Mutating(), AddInPlace);
  Tensor x = Tensor::Strided(kF32, {3}, {0}, 0, 1);
  Tensor y(kF32, {3}), z(kF32, {3});
  EXPECT_NE(op.Run({x, y}, {z}).find("input x has several elements in one place of memory"),
            std::string::npos);
}

TEST(Expanded, InputsOfABroadcastComeWithStrideZeroToAFunctionKernel) {
  TestOp op(metadef::Op(Float("x") + ", " + Float("b"), Float("z"),
                        R"j(, "shape_rule": "broadcast(x, b)")j", "f"),
            [](const OpwrightCall& call) {
              const OpwrightTensor& b = call.inputs[1].tensors[0];
              ASSERT_EQ(b.ndim, 2);
              EXPECT_EQ(Dims(b.shape, b.shape + 2), (Dims{2, 3}));
              EXPECT_EQ(Dims(b.strides, b.strides + 2), (Dims{0, 1}));
              for (int64_t i = 0; i < 6; ++i) Out(call, 0, i, In(call, 0, i) + In(call, 1, i));
            });
  op.TakesExpanded();
  Tensor x(kF32, {2, 3}), z(kF32, {2, 3});
  Tensor b = Tensor::Strided(kF32, {3}, {-1}, 2, 3);
  EXPECT_EQ(op.Run({x, b}, {z}), "");
  EXPECT_EQ(z.Values(), (std::vector<double>{4, 4, 4, 7, 7, 7}));
}

TEST(Expanded, AClassKernelGetsItsInputsDenseAndAsTheyAre) {
  TestOp op(metadef::Op(Float("x") + ", " + Float("b"), Float("z"),
                        R"j(, "shape_rule": "broadcast(x, b)")j", "f"),
            [](const OpwrightCall& call) { EXPECT_EQ(call.inputs[1].tensors[0].ndim, 1); });
  Tensor x(kF32, {2, 3}), b(kF32, {3}), z(kF32, {2, 3});
  EXPECT_EQ(op.Run({x, b}, {z}), "");
  EXPECT_EQ(op.calls, 1);
}

TEST(Outputs, ShapeAndDtypeAreChecked) {
  TestOp op(Unary());
  Tensor x(kF32, {2, 3}), flat(kF32, {6}), doubles(kF64, {2, 3});
  EXPECT_EQ(op.Run({x}, {flat}), "f: output z has shape [6], [2, 3] is due [CL008]");
  EXPECT_EQ(op.Run({x}, {doubles}), "f: output z has dtype float64, float32 is due [CL015]");
  EXPECT_EQ(op.Run({x}, {}), "f: 0 outputs given, the metadef lists 1 [CL001]");
  EXPECT_EQ(op.Run({x}, {Arg()}), "f: output z is required and was not given [CL001]");
  EXPECT_EQ(op.calls, 0);
}

TEST(Outputs, AnOptionalOneThatIsNotGivenNeedsNoShape) {
  TestOp op(metadef::Op(Float("x") + ", " + Float("n", "[-2]", R"(, "param_type": "optional")"),
                        Float("z") + ", " + Float("m", "[-2]", R"(, "param_type": "optional")"),
                        R"j(, "shape_rule": {"z": "same(x)", "m": "same(n)"})j", "f"),
            [](const OpwrightCall& call) { EXPECT_EQ(call.outputs[1].count, 0); });
  Tensor x(kF32, {2}), z(kF32, {2});
  EXPECT_EQ(op.Run({x, Arg()}, {z, Arg()}), "");
  EXPECT_EQ(op.calls, 1);
}

}  // namespace
}  // namespace opwright::test

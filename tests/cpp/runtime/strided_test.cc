// SPDX-License-Identifier: Apache-2.0
#include "runtime/strided.h"

#include <gtest/gtest.h>

#include <random>

#include "support/tensor.h"

namespace opwright::test {
namespace {

bool Dense(Dims shape, Dims strides) {
  Tensor tensor = Tensor::Strided(kF32, std::move(shape), std::move(strides), 0, 64);
  return IsDense(tensor.raw());
}

TEST(IsDense, StridesOfSizeOneAndZeroMeanNothing) {
  EXPECT_TRUE(Dense({1, 7}, {1, 1}));
  EXPECT_TRUE(Dense({3, 1}, {1, 5}));
  EXPECT_TRUE(Dense({0, 4}, {0, 0}));
  EXPECT_TRUE(Dense({4, 0}, {-3, 9}));
  EXPECT_TRUE(Dense({2, 1, 3}, {3, -99, 1}));
  EXPECT_TRUE(Dense({}, {}));
}

TEST(IsZero, KnowsOneElementThatIsNotWhateverItsDtypeAndPlace) {
  for (const OpwrightDType dtype : {kF16, kBf16, kF32, kF64, kC64, kC128, kI32, kI64, kBool}) {
    for (const int64_t n : {1, 3, 7, 5000}) {
      Tensor tensor(dtype, {n});
      tensor.Fill(0);
      EXPECT_TRUE(IsZero(tensor.raw())) << n;
      for (const int64_t at : {int64_t{0}, n / 2, n - 1}) {
        char* const last = tensor.first() + (at + 1) * ItemSize(dtype) - 1;
        const bool is_signed = IsFloat(dtype) || dtype.code == kOpwrightComplex;
        *last = static_cast<char>(0x80);  // -0 of a float
        EXPECT_EQ(IsZero(tensor.raw()), is_signed) << n << " " << at;
        *last = 1;
        EXPECT_FALSE(IsZero(tensor.raw())) << n << " " << at;
        *last = 0;
      }
    }
  }
  Tensor empty(kF32, {0});
  EXPECT_TRUE(IsZero(empty.raw()));
}

TEST(IsDense, GapsRepeatsAndOtherOrdersAreNot) {
  EXPECT_TRUE(Dense({2, 3}, {3, 1}));
  EXPECT_FALSE(Dense({2, 3}, {1, 2}));
  EXPECT_FALSE(Dense({2, 3}, {4, 1}));
  EXPECT_FALSE(Dense({3}, {2}));
  EXPECT_FALSE(Dense({3}, {-1}));
  EXPECT_FALSE(Dense({3}, {0}));
}

TEST(BytesOf, CoversWhatTheStridesReach) {
  Tensor forward = Tensor::Strided(kF32, {3}, {2}, 0, 8);
  EXPECT_EQ(BytesOf(forward.raw()).end - BytesOf(forward.raw()).begin, 5 * 4);
  Tensor backward = Tensor::Strided(kF32, {3}, {-2}, 6, 8);
  const ByteRange range = BytesOf(backward.raw());
  EXPECT_EQ(range.begin, backward.first() - 16);
  EXPECT_EQ(range.end, backward.first() + 4);
  Tensor repeated = Tensor::Strided(kF64, {5, 2}, {0, 1}, 0, 8);
  EXPECT_EQ(BytesOf(repeated.raw()).end - BytesOf(repeated.raw()).begin, 16);
  Tensor empty(kF32, {0, 4});
  EXPECT_EQ(BytesOf(empty.raw()).begin, BytesOf(empty.raw()).end);
}

// Shapes and strides at random, against an element-wise reading.
TEST(CopyTensor, AnyStridesOfBothSidesGiveTheSameElements) {
  std::mt19937 random(3);
  const auto pick = [&](int n) {
    return static_cast<int64_t>(random() % static_cast<unsigned>(n));
  };
  for (int round = 0; round < 500; ++round) {
    Dims shape;
    for (int64_t rank = pick(5); rank > 0; --rank) shape.push_back(1 + pick(4));
    const OpwrightDType dtype =
        std::array{kU8, kF16, kF32, kF64, kC128}[static_cast<size_t>(pick(5))];
    // A permutation of the dimensions, gaps, and signs: no two elements of the target share memory.
    const auto strides_of = [&](int64_t* offset, int64_t* storage) {
      std::vector<size_t> order(shape.size());
      for (size_t k = 0; k < order.size(); ++k) order[k] = k;
      std::shuffle(order.begin(), order.end(), random);
      Dims strides(shape.size());
      int64_t step = 1 + pick(2);
      *offset = 0;
      for (const size_t k : order) {
        strides[k] = step;
        step *= shape[k] + pick(2);
        if (pick(3) == 0) {
          *offset += strides[k] * (shape[k] - 1);
          strides[k] = -strides[k];
        }
      }
      *storage = step + 1;
      return strides;
    };
    int64_t offset = 0, storage = 0;
    Dims strides = strides_of(&offset, &storage);
    Tensor source = Tensor::Strided(dtype, shape, strides, offset, storage);
    if (pick(3) == 0 && !shape.empty()) {
      strides[static_cast<size_t>(pick(static_cast<int>(shape.size())))] = 0;
      source = Tensor::Strided(dtype, shape, strides, offset, storage);
    }
    strides = strides_of(&offset, &storage);
    Tensor target = Tensor::Strided(dtype, shape, strides, offset, storage);
    target.Fill(0);
    CopyTensor(source.raw(), target.raw());
    ASSERT_EQ(target.Values(), source.Values()) << "round " << round;
  }
}

TEST(CopyTensor, ConvertsBetweenAllFloats) {
  for (const OpwrightDType from : {kF16, kBf16, kF32, kF64}) {
    for (const OpwrightDType to : {kF16, kBf16, kF32, kF64}) {
      Tensor source = Tensor::Strided(from, {2, 3}, {1, 2}, 0, 8);
      Tensor target(to, {2, 3});
      CopyTensor(source.raw(), target.raw());
      EXPECT_EQ(target.Values(), (std::vector<double>{1, 3, 5, 2, 4, 6}));
    }
  }
}

TEST(CopyTensor, WritesNothingButTheElements) {
  Tensor all(kF32, {8});
  Tensor source(kF32, {3}, {-1, -2, -3});
  OpwrightTensor every_second = all.raw();
  int64_t shape[] = {3};
  int64_t strides[] = {2};
  every_second.shape = shape;
  every_second.strides = strides;
  CopyTensor(source.raw(), every_second);
  EXPECT_EQ(all.Values(), (std::vector<double>{-1, 2, -2, 4, -3, 6, 7, 8}));
}

TEST(ShapeText, IsAListAsInPython) {
  const int64_t shape[] = {2, 0, 3};
  EXPECT_EQ(ShapeText(3, shape), "[2, 0, 3]");
  EXPECT_EQ(ShapeText(0, nullptr), "[]");
}

}  // namespace
}  // namespace opwright::test

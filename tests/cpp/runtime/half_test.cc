// SPDX-License-Identifier: Apache-2.0
//
// The 16-bit types against gcc's own _Float16, and for bfloat16 against arithmetic written out.
#include "opwright/half.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "runtime/strided.h"
#include "support/tensor.h"

namespace opwright::test {
namespace {

uint16_t OracleF16(double value) { return std::bit_cast<uint16_t>(static_cast<_Float16>(value)); }

uint16_t OracleBf16(double value) {
  uint16_t bits;
  WriteElement(&bits, kBf16, value);
  return bits;
}

bool IsNan16(uint16_t bits, uint16_t exponent) {
  return (bits & exponent) == exponent && (bits & 0x7fff) != exponent;
}

// Doubles that are hard to round: every tie and its neighbours, and many at random over all
// exponents.
template <class Visit>
void ForHardDoubles(uint16_t (*oracle)(double), double (*decode)(uint16_t), const Visit& visit) {
  for (uint32_t bits = 0; bits < 0x7c00; bits += 1) {
    const double low = decode(static_cast<uint16_t>(bits));
    const double high = decode(static_cast<uint16_t>(bits + 1));
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    const double tie = (low + high) / 2;
    for (const double value : {tie, std::nextafter(tie, 0.0), std::nextafter(tie, 1e308),
                               static_cast<double>(std::nextafter(static_cast<float>(tie), 0.0f)),
                               static_cast<double>(std::nextafter(static_cast<float>(tie), 1e38f))})
      for (const double sign : {1.0, -1.0}) visit(sign * value, oracle(sign * value));
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < 200000; ++i) {
    const double value = std::ldexp(std::uniform_real_distribution<double>(-2, 2)(random),
                                    static_cast<int>(random() % 300) - 160);
    visit(value, oracle(value));
  }
  for (const double value :
       {0.0, -0.0, 1e308, -1e308, 65519.999, 65520.0, 3.3953e38, 3.4e38, 4e38, 5e-324, 1e-45,
        -1e-46, std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()})
    visit(value, oracle(value));
}

double DecodeF16(uint16_t bits) { return static_cast<double>(std::bit_cast<_Float16>(bits)); }
double DecodeBf16(uint16_t bits) { return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16); }

// By the dispatcher's copy, which is what a call uses.
uint16_t Convert(double value, OpwrightDType to) {
  Tensor from(kF64, {}, {value});
  Tensor result(to, {}, {0});
  CopyTensor(from.raw(), result.raw());
  uint16_t bits;
  memcpy(&bits, result.first(), 2);
  return bits;
}

TEST(Float16, AllPatternsBecomeTheRightFloat) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float ours = float16::ToFloat(static_cast<uint16_t>(bits));
    const auto oracle = static_cast<float>(std::bit_cast<_Float16>(static_cast<uint16_t>(bits)));
    if (std::isnan(oracle)) {
      ASSERT_TRUE(std::isnan(ours)) << std::hex << bits;
    } else {
      ASSERT_EQ(std::bit_cast<uint32_t>(ours), std::bit_cast<uint32_t>(oracle)) << std::hex << bits;
    }
  }
}

TEST(Float16, AllPatternsComeBackFromFloat) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const uint16_t back = float16::FromFloat(float16::ToFloat(static_cast<uint16_t>(bits)));
    if (IsNan16(static_cast<uint16_t>(bits), 0x7c00)) {
      ASSERT_TRUE(IsNan16(back, 0x7c00)) << std::hex << bits;
    } else {
      ASSERT_EQ(back, bits) << std::hex << bits;
    }
  }
}

TEST(Float16, FloatsRoundToNearestEven) {
  ForHardDoubles(&OracleF16, &DecodeF16, [](double value, uint16_t) {
    const auto single = static_cast<float>(value);
    ASSERT_EQ(float16::FromFloat(single), OracleF16(single)) << value;
  });
}

TEST(Float16, DoublesRoundOnce) {
  ForHardDoubles(&OracleF16, &DecodeF16, [](double value, uint16_t oracle) {
    ASSERT_EQ(Convert(value, kF16), oracle) << value;
  });
  EXPECT_TRUE(IsNan16(Convert(std::nan(""), kF16), 0x7c00));
}

TEST(Bfloat16, AllPatternsBecomeTheRightFloatAndComeBack) {
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    const float value = bfloat16::ToFloat(static_cast<uint16_t>(bits));
    ASSERT_EQ(std::bit_cast<uint32_t>(value), bits << 16);
    const uint16_t back = bfloat16::FromFloat(value);
    if (IsNan16(static_cast<uint16_t>(bits), 0x7f80)) {
      ASSERT_TRUE(IsNan16(back, 0x7f80)) << std::hex << bits;
    } else {
      ASSERT_EQ(back, bits) << std::hex << bits;
    }
  }
}

TEST(Bfloat16, FloatsRoundToNearestEven) {
  ForHardDoubles(&OracleBf16, &DecodeBf16, [](double value, uint16_t) {
    const auto single = static_cast<float>(value);
    ASSERT_EQ(bfloat16::FromFloat(single), OracleBf16(single)) << value;
  });
}

TEST(Bfloat16, DoublesRoundOnce) {
  ForHardDoubles(&OracleBf16, &DecodeBf16, [](double value, uint16_t oracle) {
    ASSERT_EQ(Convert(value, kBf16), oracle) << value;
  });
  EXPECT_TRUE(IsNan16(Convert(std::nan(""), kBf16), 0x7f80));
}

TEST(Half, NanWithALowPayloadStaysNan) {
  const float nan = std::bit_cast<float>(0x7f800001u);
  EXPECT_TRUE(IsNan16(float16::FromFloat(nan), 0x7c00));
  EXPECT_TRUE(IsNan16(bfloat16::FromFloat(nan), 0x7f80));
  EXPECT_TRUE(IsNan16(bfloat16::FromFloat(std::bit_cast<float>(0xffffffffu)), 0x7f80));
}

TEST(Half, CompoundAssignmentIsDoneInFloatAndRoundedOnce) {
  float16 a = 2048.0f;
  a += 1.0f;
  EXPECT_EQ(static_cast<float>(a), 2048.0f) << "a tie, to even";
  a -= 1.0f;
  EXPECT_EQ(static_cast<float>(a), 2047.0f);
  a *= 2.0f;
  EXPECT_EQ(static_cast<float>(a), 4094.0f);
  bfloat16 b = 3.0f;
  b /= 2.0f;
  EXPECT_EQ(static_cast<float>(b), 1.5f);
}

}  // namespace
}  // namespace opwright::test

// SPDX-License-Identifier: Apache-2.0
//
// The 16-bit floating types of kernels: stored as they are, computed in float. Conversions round to
// nearest even, keep infinities, and keep NaN as NaN.
#pragma once

#include <stdint.h>
#include <string.h>

namespace opwright {

// IEEE 754 binary16.
struct float16 {
  uint16_t bits = 0;

  float16() = default;
  float16(float value) : bits(FromFloat(value)) {}  // NOLINT: arithmetic is done in float
  operator float() const { return ToFloat(bits); }  // NOLINT
  float16& operator+=(float v) { return *this = float16(static_cast<float>(*this) + v); }
  float16& operator-=(float v) { return *this = float16(static_cast<float>(*this) - v); }
  float16& operator*=(float v) { return *this = float16(static_cast<float>(*this) * v); }
  float16& operator/=(float v) { return *this = float16(static_cast<float>(*this) / v); }

  static uint16_t FromFloat(float value) {
    uint32_t u;
    memcpy(&u, &value, 4);
    const uint32_t sign = (u >> 16) & 0x8000u;
    u &= 0x7fffffffu;
    if (u >= 0x47800000u) {  // 65536 and above, infinity, NaN
      const uint32_t nan = u > 0x7f800000u ? 0x200u | ((u >> 13) & 0x3ffu) : 0u;
      return static_cast<uint16_t>(sign | 0x7c00u | nan);
    }
    if (u < 0x38800000u) {  // below the least normal number 2^-14
      // Adding 0.5 moves the last bit of a subnormal, 2^-24, to the last bit of the sum.
      float shifted;
      memcpy(&shifted, &u, 4);
      shifted += 0.5f;
      memcpy(&u, &shifted, 4);
      return static_cast<uint16_t>(sign | (u - 0x3f000000u));
    }
    u += 0xc8000fffu + ((u >> 13) & 1u);  // rebias by -112 and round to nearest even
    return static_cast<uint16_t>(sign | (u >> 13));
  }

  static float ToFloat(uint16_t bits) {
    const uint32_t sign = (bits & 0x8000u) << 16;
    const uint32_t magnitude = bits & 0x7fffu;
    uint32_t u;
    float value;
    if (magnitude >= 0x7c00u) {
      u = sign | 0x7f800000u | (magnitude & 0x3ffu) << 13;
    } else if (magnitude >= 0x0400u) {
      u = sign | ((magnitude << 13) + 0x38000000u);
    } else {
      value = static_cast<float>(magnitude) * 5.9604644775390625e-8f;  // 2^-24
      memcpy(&u, &value, 4);
      u |= sign;
    }
    memcpy(&value, &u, 4);
    return value;
  }
};

// The upper half of a float.
struct bfloat16 {
  uint16_t bits = 0;

  bfloat16() = default;
  bfloat16(float value) : bits(FromFloat(value)) {}  // NOLINT: arithmetic is done in float
  operator float() const { return ToFloat(bits); }  // NOLINT
  bfloat16& operator+=(float v) { return *this = bfloat16(static_cast<float>(*this) + v); }
  bfloat16& operator-=(float v) { return *this = bfloat16(static_cast<float>(*this) - v); }
  bfloat16& operator*=(float v) { return *this = bfloat16(static_cast<float>(*this) * v); }
  bfloat16& operator/=(float v) { return *this = bfloat16(static_cast<float>(*this) / v); }

  static uint16_t FromFloat(float value) {
    uint32_t u;
    memcpy(&u, &value, 4);
    if ((u & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>((u >> 16) | 0x40u);
    return static_cast<uint16_t>((u + 0x7fffu + ((u >> 16) & 1u)) >> 16);
  }

  static float ToFloat(uint16_t bits) {
    const uint32_t u = static_cast<uint32_t>(bits) << 16;
    float value;
    memcpy(&value, &u, 4);
    return value;
  }
};

}  // namespace opwright

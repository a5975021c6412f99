// SPDX-License-Identifier: Apache-2.0
//
// Facts about dtypes: sizes, which holds which without loss.
#pragma once

#include <bit>
#include <cstdint>

#include "opwright/c_api.h"

namespace opwright {

inline bool operator==(OpwrightDType a, OpwrightDType b) {
  return std::bit_cast<uint32_t>(a) == std::bit_cast<uint32_t>(b);
}

constexpr OpwrightDType kFloat32 = {kOpwrightFloat, 32, 1};
constexpr OpwrightDType kFloat64 = {kOpwrightFloat, 64, 1};

inline int64_t ItemSize(OpwrightDType dtype) { return (dtype.bits + 7) / 8; }

// A number without a dtype of its own.
inline bool IsWeak(OpwrightDType dtype) { return dtype.lanes == 0; }

inline bool IsFloat(OpwrightDType dtype) {
  return dtype.code == kOpwrightFloat || dtype.code == kOpwrightBfloat;
}

// Whether every finite value of the float dtype `from` is one of `to`.
bool HoldsFloat(OpwrightDType to, OpwrightDType from);

// Whether a weak number may become `to`: an int becomes any number, a float a float or complex.
bool TakesWeak(OpwrightDType to, OpwrightDType weak);

// Significant bits of a float dtype that kernels have: the wider has more; 0 of any other.
int FloatWidth(OpwrightDType dtype);

}  // namespace opwright

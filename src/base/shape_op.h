// SPDX-License-Identifier: Apache-2.0
//
// The arithmetic of shape rules.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "opwright/c_api.h"

namespace opwright {

// a op b; nothing where no int64 is the result: division by zero, or overflow.
inline std::optional<int64_t> ApplyShapeOp(int64_t op, int64_t a, int64_t b) {
  int64_t out = 0;
  switch (op) {
    case kOpwrightAdd:
      if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
      return out;
    case kOpwrightSub:
      if (__builtin_sub_overflow(a, b, &out)) return std::nullopt;
      return out;
    case kOpwrightMul:
      if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
      return out;
    case kOpwrightMin:
      return std::min(a, b);
    case kOpwrightMax:
      return std::max(a, b);
    default: {
      if (b == 0 || (a == INT64_MIN && b == -1)) return std::nullopt;
      const int64_t rest = a % b;
      const int64_t floor = a / b - ((rest != 0 && (rest < 0) != (b < 0)) ? 1 : 0);
      if (op == kOpwrightFloorDiv) return floor;
      return op == kOpwrightMod ? a - floor * b : floor + (rest != 0 ? 1 : 0);
    }
  }
}

}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
//
// How ParallelFor splits [0, n): by n and grain alone, so that results do not depend on the number of
// threads, nor on whose threads they are.
#pragma once

#include <algorithm>
#include <cstdint>

namespace opwright {

struct Parts {
  static constexpr int64_t kMost = 64;

  Parts(int64_t n, int64_t grain) : n_(n), count_(std::clamp<int64_t>(n / std::max<int64_t>(grain, 1), 1, kMost)) {}
  int64_t count() const { return count_; }
  int64_t begin(int64_t part) const { return n_ / count_ * part + std::min(part, n_ % count_); }

 private:
  int64_t n_;
  int64_t count_;
};

}  // namespace opwright

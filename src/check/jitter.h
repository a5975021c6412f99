// SPDX-License-Identifier: Apache-2.0
//
// How far the results of one dtype column are from those of another, over several moves of the
// inputs by their last place: what is rounding goes with the moves, and what is wrong stays.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "check/array.h"

namespace opwright::check {

// How far an element's error changes from one move to the next.
class Jitter {
 public:
  explicit Jitter(const Array& array)
      : low_(static_cast<size_t>(array.size()), INFINITY), high_(low_.size(), -INFINITY) {}

  void Add(const Array& got, const Array& expected) {
    ++moves_;
    for (int64_t k = 0; k < got.size(); ++k) {
      const double error = got.Get(k) - expected.Get(k);
      const auto at = static_cast<size_t>(k);
      if (!std::isfinite(error)) continue;
      low_[at] = std::min(low_[at], error);
      high_[at] = std::max(high_[at], error);
    }
  }
  double RangeOf(int64_t k) const {
    return std::max(0.0, high_[static_cast<size_t>(k)] - low_[static_cast<size_t>(k)]);
  }
  // By how much it is off to the same side at each move.
  double SteadyOf(int64_t k) const {
    const auto at = static_cast<size_t>(k);
    return moves_ < kEnoughMoves ? 0 : std::max({0.0, low_[at], -high_[at]});
  }

 private:
  static constexpr int kEnoughMoves = 4;  // fewer say nothing

  int moves_ = 0;
  std::vector<double> low_;
  std::vector<double> high_;
};

}  // namespace opwright::check

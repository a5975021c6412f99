// SPDX-License-Identifier: Apache-2.0
#include "check/smaller_case.h"

#include <algorithm>

namespace opwright::check {
namespace {

// Dimensions above this are made shorter, by so many times.
struct Cut {
  int64_t above;
  int64_t divisor;
};
constexpr Cut kLong = {128, 16};
constexpr Cut kShort = {8, 3};

}  // namespace

Case SmallerCase(const Case& c) {
  int64_t longest = 0;
  for (const auto& tensors : c.shapes)
    for (const Shape& shape : tensors)
      for (const int64_t dim : shape) longest = std::max(longest, dim);
  const Cut cut = longest > kLong.above ? kLong : kShort;
  Case smaller = c;
  for (auto& tensors : smaller.shapes)
    for (Shape& shape : tensors)
      for (int64_t& dim : shape)
        if (dim > cut.above) dim = dim / cut.divisor + 1;
  return smaller;
}

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
#include "check/case_shapes.h"

#include <algorithm>

namespace opwright::check {
namespace {

int64_t At(const std::vector<int64_t>& sizes, size_t k) { return sizes[k % sizes.size()]; }

// Which of the unknown sizes dimension k of an input has.
size_t UnknownOf(const OpwrightParamDef& param, int32_t input, int32_t k, Tie tie) {
  // By position from the end, as broadcasting lines dimensions up.
  const int32_t from_end = param.num_dims - 1 - k;
  const bool first = from_end == 1 || param.num_dims == 1;
  const auto own = static_cast<size_t>(input);
  if (tie == Tie::kNone) return static_cast<size_t>(from_end) + 2 * own;
  if (tie == Tie::kPosition || (from_end > 1)) return static_cast<size_t>(from_end);
  if (tie == Tie::kChain) return own + (first ? 0 : 1);
  if (tie == Tie::kBackChain) return own + (first ? 1 : 0);
  return first == (tie == Tie::kFirst) ? 0 : own + 1;
}

}  // namespace

bool IsAny(const OpwrightParamDef& param) { return param.leading_any != 0 && param.num_dims == 0; }

Shape ShapeOf(const OpwrightParamDef& param, int32_t input, const Sizes& sizes, Form form) {
  Shape shape;
  if (param.leading_any != 0) shape = IsAny(param) ? sizes.any : sizes.leading;
  if (input == sizes.shorter) shape.erase(shape.begin());
  const size_t in_front = shape.size();
  for (int32_t k = 0; k < param.num_dims; ++k) {
    const int64_t dim = param.dims[k];
    shape.push_back(dim >= 0    ? dim
                    : dim <= -2 ? At(sizes.symbols, static_cast<size_t>(-(dim + 2)))
                                : At(sizes.unknown, UnknownOf(param, input, k, sizes.tie)));
  }
  for (size_t k = 0; k < shape.size(); ++k) {
    const bool is_free = k < in_front || param.dims[k - in_front] == -1;
    const size_t from_end = shape.size() - 1 - k;
    if (is_free && from_end < 32 && (form.ones >> from_end & 1) != 0) shape[k] = 1;
  }
  size_t left_out = 0;
  while (left_out < in_front && shape.size() - left_out > form.most && shape[left_out] == 1)
    ++left_out;
  shape.erase(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(left_out));
  return shape;
}

Sizes ForItem(Sizes sizes, int64_t item) {
  if (!sizes.ragged) return sizes;
  const auto by = item % static_cast<int64_t>(sizes.unknown.size());
  std::rotate(sizes.unknown.begin(), sizes.unknown.begin() + by, sizes.unknown.end());
  if (item % 3 == 1) sizes.any = {sizes.any.back()};
  if (item % 3 == 2) sizes.any.insert(sizes.any.begin(), 2);
  return sizes;
}

}  // namespace opwright::check

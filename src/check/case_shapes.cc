// SPDX-License-Identifier: Apache-2.0
#include "check/case_shapes.h"

#include <algorithm>

namespace opwright::check {
namespace {

int64_t At(const std::vector<int64_t>& sizes, size_t k) { return sizes[k % sizes.size()]; }

Shape AnyInForm(const Shape& full, Form form) {
  Shape shape = full;
  switch (form) {
    case Form::kFull:
      break;
    case Form::kRow:
      if (!full.empty()) shape = {full.back()};
      break;
    case Form::kColumn:
      if (!full.empty()) shape.back() = 1;
      break;
    case Form::kKeptRow:
      for (size_t k = 0; k + 1 < shape.size(); ++k) shape[k] = 1;
      break;
    case Form::kOne:
      shape = {1};
      break;
    case Form::kScalar:
      shape = {};
      break;
  }
  return shape;
}

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
  if (IsAny(param)) return AnyInForm(sizes.any, form);
  Shape shape;
  if (param.leading_any) {
    shape = sizes.leading;
    if (input == sizes.shorter) shape.erase(shape.begin());
    if (form == Form::kRow || form == Form::kScalar) shape.clear();
    if (form == Form::kKeptRow || form == Form::kOne) std::fill(shape.begin(), shape.end(), 1);
  }
  const bool all_one = form == Form::kOne || form == Form::kScalar;
  for (int32_t k = 0; k < param.num_dims; ++k) {
    const int64_t dim = param.dims[k];
    const bool last = k + 1 == param.num_dims;
    if (dim >= 0) {
      shape.push_back(dim);
    } else if (dim <= -2) {
      shape.push_back(At(sizes.symbols, static_cast<size_t>(-(dim + 2))));
    } else if (all_one || (form == Form::kColumn && last) ||
               ((form == Form::kKeptRow || form == Form::kRow) && !last)) {
      shape.push_back(1);
    } else {
      shape.push_back(At(sizes.unknown, UnknownOf(param, input, k, sizes.tie)));
    }
  }
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

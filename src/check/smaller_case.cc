// SPDX-License-Identifier: Apache-2.0
#include "check/smaller_case.h"

#include <algorithm>
#include <iterator>

namespace opwright::check {
namespace {

// Dimensions above this are made shorter, by so many times.
struct Cut {
  int64_t above;
  int64_t divisor;
};
constexpr Cut kLong = {128, 16};
constexpr Cut kShort = {8, 3};

// The dimensions that may have another size.
std::vector<int64_t*> FreeDims(const OpwrightOpDef& def, Case* c) {
  std::vector<int64_t*> dims;
  for (size_t i = 0; i < c->shapes.size(); ++i) {
    const OpwrightParamDef& param = *def.inputs[i];
    for (Shape& shape : c->shapes[i])
      for (size_t k = 0; k < shape.size(); ++k) {
        // Further ones stand in front.
        const int64_t listed = static_cast<int64_t>(k) + param.num_dims - std::ssize(shape);
        if (listed < 0 || param.dims[listed] < 0) dims.push_back(&shape[k]);
      }
  }
  return dims;
}

}  // namespace

Case SmallerCase(const OpwrightOpDef& def, const Case& c) {
  Case smaller = c;
  const std::vector<int64_t*> dims = FreeDims(def, &smaller);
  const bool any_long =
      std::any_of(dims.begin(), dims.end(), [](const int64_t* dim) { return *dim > kLong.above; });
  const Cut cut = any_long ? kLong : kShort;
  for (int64_t* dim : dims)
    if (*dim > cut.above) *dim = *dim / cut.divisor + 1;
  return smaller;
}

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// The shape of one input of a case: what its metadef's dimensions stand for, and how it is smaller
// than the others of its broadcast group.
#pragma once

#include <cstdint>
#include <vector>

#include "check/array.h"
#include "opwright/c_api.h"

namespace opwright::check {

// How one input of a broadcast group is smaller than the others.
struct Form {
  uint32_t ones = 0;  // bit k: axis k from the end is 1, where the metadef lets it
  size_t most =
      SIZE_MAX;  // axes; further ones in front that are 1 are left out, where it lets them
};
inline constexpr Form kFull = {};
inline constexpr Form kRow = {~1u, 1};
inline constexpr Form kKeptRow = {~1u};
inline constexpr Form kColumn = {1};
inline constexpr Form kOne = {~0u, 1};
inline constexpr Form kScalar = {~0u, 0};

// How dimensions that are -1 are equal across inputs, of the last two of each.
enum class Tie {
  kPosition,  // those at the same place, from the end
  kNone,  // each has a size of its own
  kChain,  // the last of one and the last but one of the next: a product of matrices
  kBackChain,
  kFirst,  // the last but one of all
  kLast,
};

struct Sizes {
  std::vector<int64_t> symbols;
  Shape leading;  // what "..." stands for
  int32_t shorter = -1;  // the input whose "..." stands for one dimension fewer
  Shape any;  // of inputs of any rank
  std::vector<int64_t> unknown;  // of dimension k that is -1
  Tie tie = Tie::kPosition;
  uint64_t absent = 0;  // bit i: input i, which is optional, is not given
  int64_t dynamic = 2;  // tensors of a dynamic input; at most kMostDynamic
  bool ragged = false;  // each of which has a shape of its own
};

// Whether the input may have any shape.
bool IsAny(const OpwrightParamDef& param);

Shape ShapeOf(const OpwrightParamDef& param, int32_t input, const Sizes& sizes, Form form);

// Of one tensor of a dynamic input.
Sizes ForItem(Sizes sizes, int64_t item);

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// The shape of one input of a case: what its metadef's dimensions stand for, and how it is smaller
// than the others of its broadcast group.
#pragma once

#include <string>
#include <vector>

#include "check/array.h"
#include "opwright/c_api.h"

namespace opwright::check {

// How one input of a broadcast group is smaller than the others.
enum class Form { kFull, kRow, kColumn, kKeptRow, kOne, kScalar };

struct Sizes {
  std::string name;
  std::vector<int64_t> symbols;
  Shape leading;  // what "..." stands for
  int32_t shorter = -1;  // the input whose "..." stands for one dimension fewer
  Shape any;  // of inputs of any rank
  std::vector<int64_t> unknown;  // of dimension k that is -1
  bool unknown_differ = false;  // a -1 of each input has a size of its own
  bool optional = true;  // whether optional inputs are given
  int64_t dynamic = 2;  // tensors of a dynamic input
  bool ragged = false;  // each of which has a shape of its own
};

// Whether the input may have any shape.
bool IsAny(const OpwrightParamDef& param);

Shape ShapeOf(const OpwrightParamDef& param, int32_t input, const Sizes& sizes, Form form);

// Of one tensor of a dynamic input.
Sizes ForItem(Sizes sizes, int64_t item);

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// Which gradients of an operator are due, and in which dtype columns.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opwright/c_api.h"

namespace opwright {
class Operator;
}  // namespace opwright

namespace opwright::check {

// A report row for each tensor that an input may have.
struct RowName {
  int32_t input;
  int64_t item;
  std::string name;
};
std::vector<RowName> RowsOf(const OpwrightOpDef& def);

// Whether the backward operator gives a gradient of the input.
bool GivesGradient(const OpwrightGradient& gradient, int32_t input);

// Whether the backward operator has a dtype column for the forward's.
bool HasGradientColumn(Operator& op, int32_t column);

// The column with the widest floats; with gradient, of those that have a gradient column. -1: none.
int32_t WidestColumn(Operator& op, bool gradient);

}  // namespace opwright::check

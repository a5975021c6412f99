// SPDX-License-Identifier: Apache-2.0
//
// What the results of one case are measured by: how large the operator's results are, and how far
// rounding takes them. Over all float outputs one after the other.
#pragma once

#include <vector>

#include "check/trial.h"

namespace opwright::check {

struct OwnValues {
  double epsilon = 0;  // of the least precise dtype, or of what the kernel works in
  std::vector<double> values;
  // The rounding of each: the last place of the result, or what the last places of the inputs move.
  std::vector<double> noise;
  // The largest of the same tensor, at these values and at others.
  std::vector<double> size;
  // The same call with inputs that were moved in the last place; outputs are theirs.
  std::vector<Trial> nudged;
};

// All elements of all float outputs, as double.
std::vector<double> FlatFloats(const ArrayLists& lists);

// Trials of the same shapes with normal and with positive values, of those that the operator takes.
std::vector<Trial> WithOtherValues(const Trial& trial, Random* random);

// trial: its outputs are those of the forward call.
OwnValues MeasureOwnValues(const Trial& trial, Random* random);

// How far the last places of inputs and cotangents move each element of the gradient of each
// tensor that is due one. Empty: no backward call was made.
std::vector<std::vector<double>> GradientNoise(OwnValues* own, const ArrayLists& cotangents,
                                               Random* random);

}  // namespace opwright::check

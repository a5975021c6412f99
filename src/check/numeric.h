// SPDX-License-Identifier: Apache-2.0
//
// Central differences of a forward operator, with the noise that was measured while taking them.
#pragma once

#include <cmath>
#include <vector>

#include "check/trial.h"

namespace opwright::check {

// The derivative of sum(c * out) by one element of one input, for one cotangent c.
struct Slope {
  double value = 0;
  double noise = 0;
  bool smooth = true;  // false: a kink or a jump, or something that is not finite
  // What the differences to either side say: at a kink every slope between them is one.
  double low = 0;
  double high = 0;
  double side_noise = INFINITY;
  // The slopes go on changing at far smaller steps, or those of tied elements do not add up: they
  // say nothing of a finite gradient.
  bool unsettled = false;
};

struct Numeric {
  std::vector<int64_t> elements;  // of the input; all of them unless it is large
  bool whole = true;
  std::vector<std::vector<Slope>> slopes;  // [cotangent][element]
  // d out[j] / d element, over all float outputs one after the other; only if whole.
  std::vector<std::vector<double>> jacobian;
};

// What of trial.outputs is summed: all elements of all float outputs, as double.
std::vector<double> FlatFloats(const ArrayLists& lists);

// trial.inputs is moved and put back; trial.outputs ends as it was.
Numeric Differentiate(Trial* trial, const Wanted& wanted,
                      const std::vector<std::vector<double>>& cotangents, Random* random);

// Relative to max(1, |x|). After Richardson's step the truncation is of the fourth order; what is
// left is rounding, epsilon / step.
double StepOf(OpwrightDType dtype);

// What a difference may deviate by for a dtype, relative to the gradient's size.
double RelativeTolerance(OpwrightDType dtype);

}  // namespace opwright::check

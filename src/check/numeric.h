// SPDX-License-Identifier: Apache-2.0
//
// Central differences of a forward operator: of which elements, and with which steps.
#pragma once

#include <vector>

#include "check/own_values.h"
#include "check/slope.h"
#include "check/trial.h"

namespace opwright::check {

// The slopes of the elements of one input.
class Numeric {
 public:
  // With one step. trial: its outputs are those of the forward call, and so they are afterwards.
  Numeric(Trial* trial, const Wanted& wanted, const std::vector<std::vector<double>>& cotangents,
          const OwnValues& own, Random* random);
  // With many steps, at element k of `elements`: the slope that several of them agree on.
  void Refine(size_t k);

  std::vector<int64_t> elements;  // of the input; all of them unless it is large
  bool whole = true;
  std::vector<std::vector<Slope>> slopes;  // [cotangent][element]
  // d out[j] / d element, over all float outputs one after the other; only if whole.
  std::vector<std::vector<double>> jacobian;

 private:
  // False where a forward call fails. scale: of the step.
  bool Take(int64_t element, double scale, bool far, Samples* samples);

  bool Jumps(const std::vector<bool>& moving, const std::vector<double>& c, double by_slope) const;

  Trial& trial_;
  Array& input_;
  const std::vector<std::vector<double>>& cotangents_;
  const OwnValues& own_;
  bool zeros_add_up_;
};

// Relative to max(1, |x|). After Richardson's step the truncation is of the fourth order; what is
// left is rounding, epsilon / step.
double StepOf(OpwrightDType dtype);

// What a difference may deviate by for a dtype, relative to the gradient's size.
double RelativeTolerance(OpwrightDType dtype);

}  // namespace opwright::check

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
  // few: of an input that is not tiny only a dozen elements, most of them where an axis is long.
  Numeric(Trial* trial, const Wanted& wanted, const std::vector<std::vector<double>>& cotangents,
          const OwnValues& own, bool few, Random* random);
  // With many steps, at element k of `elements`: the slope that several of them agree on.
  void Refine(size_t k);
  // Of the slope at element k of `elements`.
  RoundingByValue RoundingOf(size_t k, size_t cotangent) const;

  std::vector<int64_t> elements;  // of the input; all of them unless it is large or few are wanted
  bool whole = true;
  std::vector<std::vector<Slope>> slopes;  // [cotangent][element]
  // d out[j] / d element, over all float outputs one after the other; only if whole.
  std::vector<std::vector<double>> jacobian;

 private:
  // False where a forward call fails. scale: of the step.
  bool Take(int64_t element, double scale, bool far, Samples* samples);
  // Of the last slopes.
  void FindEndless(int64_t element);

  bool Jumps(const std::vector<bool>& moving, const std::vector<double>& c, double by_slope) const;

  Trial& trial_;
  Array& input_;
  const std::vector<std::vector<double>>& cotangents_;
  const OwnValues& own_;
  bool zeros_add_up_;
  std::vector<std::vector<bool>> moving_;  // [element][output]: whether any step moves it
};

// What a difference may deviate by for a dtype, relative to the gradient's size.
double RelativeTolerance(OpwrightDType dtype);

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// From a wrong gradient to the likely mistake: what else the numbers that came would be right for.
#pragma once

#include <string>
#include <vector>

#include "check/array.h"

namespace opwright::check {

struct Named {
  std::string name;
  std::vector<double> values;
};

struct Suspect {
  Shape shape;  // of the input
  std::vector<double> input;  // its values; at zero much is right by chance
  std::vector<double> got;
  std::vector<double> expected;
  double tolerance = 0;  // relative to the largest number
  std::vector<double> cotangent;  // over all float outputs
  const std::vector<std::vector<double>>* jacobian = nullptr;  // [element][output element]
  std::vector<Named> others;  // right gradients of the other inputs
  std::vector<Named> factors;  // inputs and outputs that may have been left out or left in
};

// "" when nothing fits.
std::string LikelyKind(const Suspect& suspect);

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// One element of a gradient against the differences there.
#pragma once

#include "check/numeric.h"

namespace opwright::check {

struct Judgement {
  bool decided = false;
  double expected = 0;
  double error = 0;
  double tolerance = 0;
};

// One element's gradient by the differences there: their slope where the function is smooth, else
// whatever lies between the slopes to either side.
Judgement Judge(const Slope& slope, double got, double scale, OpwrightDType dtype);

}  // namespace opwright::check

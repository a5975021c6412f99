// SPDX-License-Identifier: Apache-2.0
//
// A value that is clamped does not move with its input, and so hides how far rounding of the
// clamp's bound takes it: log(1 - min(x, 1 - 1e-7)) at any x above is the logarithm of what is left
// of 1e-7. At the edge of the clamp it shows.
#pragma once

#include <functional>
#include <vector>

#include "check/trial.h"

namespace opwright::check {

// One number that a call with the trial's inputs gives; NaN where the call fails.
using Result = std::function<double(Trial*)>;

// How far changes of `epsilon` move the result at the edges of the clamps that it is in; 0 where it
// is in none. others: the same call at other values.
double ClampSpread(const Trial& trial, const std::vector<Trial>& others, const Result& result,
                   double epsilon, Random* random);

}  // namespace opwright::check

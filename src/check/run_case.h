// SPDX-License-Identifier: Apache-2.0
//
// Everything that is tried with one case in one dtype column; runs in a child.
#pragma once

#include "check/record.h"
#include "check/trial.h"

namespace opwright::check {

struct Columns {
  int32_t column = 0;
  int32_t widest = 0;  // outputs of the other columns are compared with its
  int32_t gradient = -1;  // differences are taken in it; -1: no gradient
  bool has_gradient = false;  // this column has one
};

void RunCase(Operator& op, const Columns& columns, const Case& c, uint64_t seed,
             Recorder* recorder);

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// Everything that is tried with one case in one dtype column; runs in a child.
#pragma once

#include "check/record.h"
#include "check/trial.h"

namespace opwright::check {

struct Columns {
  int32_t column = 0;
  int32_t reference = 0;  // outputs of the other columns are compared with its
  int32_t gradient = -1;  // differences are taken in it; -1: no gradient
  bool has_gradient = false;  // this column has one
};

// Of some cases one column is enough. Values beyond the usual are for differences; those in the
// hundreds are too far apart in a dtype of 16 bits for these.
bool IsTried(const OpwrightOpDef& def, const Columns& columns, const Case& c);

void RunCase(Operator& op, const Columns& columns, const Case& c, uint64_t seed,
             Recorder* recorder);

// A case with what it was run with, and the results of that run.
struct Known {
  Case c;
  uint64_t seed = 0;
  SecondValues second;
  std::string results;
};

// The calls of one case after those of another, which must leave nothing behind that changes them.
void RunAfter(Operator& op, const Columns& columns, const Known& before, const Known& after,
              Recorder* recorder);

}  // namespace opwright::check

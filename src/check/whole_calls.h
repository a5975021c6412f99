// SPDX-License-Identifier: Apache-2.0
//
// Two whole calls of an operator at the same time, in a way that can be had again: one is stopped
// within its kernel while the other, of other values, runs from its begin to its end.
#pragma once

#include "check/run_case.h"

namespace opwright::check {

// Forward calls, then backward calls.
void RunWholeCalls(Operator& op, const Columns& columns, const Known& known, Recorder* recorder);

}  // namespace opwright::check

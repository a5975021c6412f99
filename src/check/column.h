// SPDX-License-Identifier: Apache-2.0
//
// One dtype column against another: the same values must give the same results, as far as the less
// precise of the two can tell them apart.
#pragma once

#include <cstdint>

#include "check/record.h"
#include "check/trial.h"

namespace opwright::check {

// Outputs, and gradients if asked for, against those of another column; nothing where the columns
// differ in more than precision, as float and int do. trial: its outputs are those of the forward
// call.
void CompareColumns(const Trial& trial, Recorder* recorder, uint64_t seed, int32_t column,
                    bool gradients);

}  // namespace opwright::check

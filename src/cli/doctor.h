// SPDX-License-Identifier: Apache-2.0
//
// opwright doctor.
#pragma once

#include <string>

#include "doctor/doctor.h"

namespace opwright::cli {

// Prints the report in "text" or "json"; color: only in text. 0: nothing is wrong, 1: something is.
int RunDoctor(const doctor::Options& options, const std::string& format, bool color);

}  // namespace opwright::cli

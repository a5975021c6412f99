// SPDX-License-Identifier: Apache-2.0
//
// opwright check.
#pragma once

#include <string>

#include "check/check.h"

namespace opwright::cli {

// Prints the report in "text" or "json". 0: right, 1: wrong, 2: undecided, or it does not build or
// load.
int RunCheck(const std::string& path, const check::Options& options, const std::string& format);

}  // namespace opwright::cli

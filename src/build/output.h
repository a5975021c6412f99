// SPDX-License-Identifier: Apache-2.0
//
// The library's file where the user wants it.
#pragma once

#include <string>

#include "base/error.h"
#include "build/plan.h"

namespace opwright::build {

// Before anything is compiled: BD021 when the library would take the place of an input of the
// build, of a header or of another file that no build has written. output: absolute.
Status CheckOutput(const std::string& output, const Plan& plan);

// A new file in the old one's place, whose mapping goes on.
Status CopyOut(const std::string& from, const std::string& to);

}  // namespace opwright::build

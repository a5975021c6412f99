// SPDX-License-Identifier: Apache-2.0
//
// Variables of the environment.
#pragma once

#include <string>

namespace opwright {

// "" for one that is not set.
std::string EnvironmentVariable(const char* name);

// $TMPDIR, else /tmp.
std::string TemporaryFolder();

}  // namespace opwright

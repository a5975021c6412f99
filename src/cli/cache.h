// SPDX-License-Identifier: Apache-2.0
//
// opwright cache: where the cache is, how large it is, and emptying it.
#pragma once

#include <string>

namespace opwright::cli {

// verb: "path", "size" or "clear". Returns the exit code.
int RunCache(const std::string& verb);

}  // namespace opwright::cli

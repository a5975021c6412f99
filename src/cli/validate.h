// SPDX-License-Identifier: Apache-2.0
//
// opwright validate: the problems of metadef files, for people, scripts and code scanning.
#pragma once

#include <string>
#include <vector>

namespace opwright::cli {

// format: "text", "json" or "sarif". Prints to stdout; color: only in text. Returns the exit code:
// 0 right, 1 errors, 2 a file that cannot be read.
int RunValidate(const std::vector<std::string>& files, const std::string& format, bool color);

}  // namespace opwright::cli

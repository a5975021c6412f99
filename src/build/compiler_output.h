// SPDX-License-Identifier: Apache-2.0
//
// Cuts what gcc and clang print down to the user's own lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace opwright::build {

// Errors first, in the order of the compiler; each error is reported at a line of the user's: the
// one that it is on, else the one that led there through our headers or the system's. Warnings that
// are on no line of the user's are left out. headers: the folder of our own.
std::vector<Diagnostic> UserDiagnostics(std::string_view output, const std::string& headers);

}  // namespace opwright::build

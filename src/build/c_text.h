// SPDX-License-Identifier: Apache-2.0
//
// C11 constants as text, for generated files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace opwright::build {

// With its quotes; every byte that is not plain ASCII as an octal escape, no trigraphs. Broken into
// adjacent literals where the text has line ends.
std::string CString(std::string_view text);
// Exact, also for the least number, infinities and NaN.
std::string CInt64(int64_t value);
std::string CDouble(double value);

}  // namespace opwright::build

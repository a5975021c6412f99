// SPDX-License-Identifier: Apache-2.0
//
// Numbers as verdicts have them: two digits are enough to judge by.
#pragma once

#include <string>

namespace opwright::check {

std::string ShortNumber(double value);
std::string PercentText(double share);  // "2.5 %"

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// Numbers as verdicts have them.
#pragma once

#include <string>

namespace opwright::check {

std::string ShortNumber(double value);  // two digits are enough to judge by
std::string FactorText(double value);  // four tell a factor from one
std::string LongNumber(double value);  // nine, all that a float has
std::string PercentText(double share);  // "2.5 %"

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
#include "check/number_text.h"

#include <cstdio>

namespace opwright::check {

std::string ShortNumber(double value) {
  char text[40];
  snprintf(text, sizeof text, "%.2g", value);
  return text;
}

std::string PercentText(double share) { return ShortNumber(100 * share) + " %"; }

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
#include "check/number_text.h"

#include <cstdio>

namespace opwright::check {

std::string ShortNumber(double value) {
  char text[40];
  snprintf(text, sizeof text, "%.2g", value);
  return text;
}

std::string PercentText(double share) {
  char text[40];
  // Nearly all is not all.
  snprintf(text, sizeof text, share < 0.995 ? "%.2g %%" : "%.4g %%", 100 * share);
  return text;
}

}  // namespace opwright::check

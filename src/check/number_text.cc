// SPDX-License-Identifier: Apache-2.0
#include "check/number_text.h"

#include <cstdio>

namespace opwright::check {
namespace {

std::string Digits(double value, int count) {
  char text[40];
  snprintf(text, sizeof text, "%.*g", count, value);
  return text;
}

}  // namespace

std::string ShortNumber(double value) { return Digits(value, 2); }

std::string FactorText(double value) { return Digits(value, 4); }

std::string LongNumber(double value) { return Digits(value, 9); }

std::string PercentText(double share) {
  char text[40];
  // Nearly all is not all.
  snprintf(text, sizeof text, share < 0.995 ? "%.2g %%" : "%.4g %%", 100 * share);
  return text;
}

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
#include "base/dtype.h"

namespace opwright {

namespace {

// Significand bits with the hidden one, exponent bits; both zero of what is no float of kernels.
struct FloatFormat {
  int significand = 0;
  int exponent = 0;
};

FloatFormat FormatOf(OpwrightDType dtype) {
  if (dtype.lanes > 1) return {};
  if (dtype.code == kOpwrightBfloat && dtype.bits == 16) return {8, 8};
  if (dtype.code != kOpwrightFloat) return {};
  if (dtype.bits == 16) return {11, 5};
  if (dtype.bits == 32) return {24, 8};
  if (dtype.bits == 64) return {53, 11};
  return {};
}

}  // namespace

bool HoldsFloat(OpwrightDType to, OpwrightDType from) {
  const FloatFormat a = FormatOf(to);
  const FloatFormat b = FormatOf(from);
  return b.significand > 0 && a.significand >= b.significand && a.exponent >= b.exponent;
}

bool TakesWeak(OpwrightDType to, OpwrightDType weak) {
  const bool inexact = IsFloat(to) || to.code == kOpwrightComplex;
  if (weak.code == kOpwrightFloat) return inexact;
  if (weak.code == kOpwrightBool) return true;
  return inexact || to.code == kOpwrightInt || to.code == kOpwrightUInt;
}

int FloatWidth(OpwrightDType dtype) { return FormatOf(dtype).significand; }

}  // namespace opwright

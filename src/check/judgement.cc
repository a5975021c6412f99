// SPDX-License-Identifier: Apache-2.0
#include "check/judgement.h"

#include <algorithm>
#include <cmath>

namespace opwright::check {
namespace {

// How many times the measured noise an error may be.
constexpr double kNoise = 4;

// How far from a difference of this size a gradient may be. scale: of the whole gradient.
double Allowed(double size, double scale, double noise, OpwrightDType dtype) {
  return RelativeTolerance(dtype) * (size + 0.1 * scale) + kNoise * noise +
         2 * Epsilon(dtype) / StepOf(dtype);
}

}  // namespace

Judgement Judge(const Slope& slope, double got, double scale, OpwrightDType dtype) {
  const double low = slope.smooth ? slope.value : slope.low;
  const double high = slope.smooth ? slope.value : slope.high;
  const double noise = slope.smooth ? slope.noise : slope.side_noise;
  const bool finite = std::isfinite(got);
  Judgement judged;
  judged.expected = got > high ? high : got > low ? got : low;
  judged.tolerance = Allowed(std::max(std::fabs(low), std::fabs(high)), scale, noise, dtype);
  judged.error = finite ? std::fabs(got - judged.expected) : INFINITY;
  // Where the noise is as large as what is measured, nothing is decided. Values and cotangents are
  // of the size of one: less than the relative tolerance of that is no noise.
  const double signal = std::max({scale, finite ? std::fabs(got) : 0, RelativeTolerance(dtype)});
  const bool noisy = !(kNoise * noise <= 0.3 * signal) || !std::isfinite(low + high);
  // What the plain difference gives too is as good as decided.
  const bool hit = !slope.smooth && std::fabs(got - slope.value) <=
                                        Allowed(std::fabs(slope.value), scale, slope.noise, dtype);
  judged.decided = (!noisy && !(slope.unsettled && finite)) || hit || (slope.smooth && !finite);
  return judged;
}

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
#include "check/judgement.h"

#include <algorithm>
#include <cmath>

#include "check/numeric.h"

namespace opwright::check {
namespace {

// How many times the measured noise an error may be.
constexpr double kNoise = 4;
// Fewer elements tell no common factor, nor do those that are no larger than what is allowed.
constexpr double kClear = 2;
constexpr int64_t kFew = 8;
// How many times its rounding, which may be the same in all elements, a common factor may be off.
constexpr double kShared = 2;

double LeastNormal(OpwrightDType dtype) { return SmallestPositive(dtype) / Epsilon(dtype); }

// How far from a difference of this size a gradient may be. Terms that cancel are rounded by their
// own size, a part of a sum over everything by that of the largest.
double Allowed(double size, double noise, const Slope& slope, const Measure& m) {
  return RelativeTolerance(m.dtype) * (size + 0.1 * slope.terms) + kNoise * noise +
         8 * Epsilon(m.dtype) * m.scale + m.floor + 4 * SmallestPositive(m.dtype);
}

// Infinite slopes of both signs may add up to anything.
Judgement JudgeEndless(const Slope& slope, double got) {
  Judgement judged;
  judged.tolerance = 1;
  judged.expected = slope.up ? INFINITY : -INFINITY;
  judged.decided = !std::isfinite(got) && !(slope.up && slope.down);
  judged.error = got == judged.expected ? 0 : INFINITY;
  return judged;
}

}  // namespace

bool Judgement::fine() const {
  return error == 0 || tolerance <= 0.02 * std::max(std::fabs(expected), error);
}

Judgement Judge(const Slope& slope, double got, const Measure& m) {
  if (slope.endless()) return JudgeEndless(slope, got);
  const double low = slope.smooth ? slope.value : slope.low;
  const double high = slope.smooth ? slope.value : slope.high;
  const double noise = (slope.smooth ? slope.noise : slope.side_noise) + m.noise;
  const double size = std::max(std::fabs(low), std::fabs(high));
  const bool finite = std::isfinite(got);
  Judgement judged;
  judged.expected = got > high ? high : got > low ? got : low;
  judged.tolerance = Allowed(size, noise, slope, m);
  judged.error = finite ? std::fabs(got - judged.expected) : INFINITY;
  // Where the noise is as large as what is measured, nothing is decided; nor where intermediate
  // values of the size of other results, or a step that was too large, would explain an error.
  const double signal = std::max({m.scale, size, finite ? std::fabs(got) : 0});
  const bool noisy = !(kNoise * noise <= 0.3 * signal) || !std::isfinite(low + high);
  const bool hidden =
      finite && judged.error > judged.tolerance &&
      (judged.error <= judged.tolerance + kNoise * slope.floor ||
       std::fabs(got - slope.before) <= judged.tolerance + kNoise * slope.before_noise ||
       std::max(size, std::fabs(got)) <= m.hidden);
  // What the plain difference gives too is as good as decided.
  const double off = std::fabs(got - slope.value);
  const double allowed = Allowed(std::fabs(slope.value), slope.noise + m.noise, slope, m);
  const bool measured = slope.smooth || std::isfinite(slope.side_noise);
  const bool hit = !slope.smooth && measured && off <= allowed;
  if (hit && judged.error > judged.tolerance) judged = {true, slope.value, off, allowed};
  judged.decided = (!noisy && !hidden && !(slope.unsettled && finite)) || hit ||
                   (slope.smooth && !finite) || (slope.smooth && judged.error == 0);
  // What allows every error proves nothing, nor do numbers that have no digits left.
  const bool subnormal = size > 0 && std::max(size, std::fabs(got)) < LeastNormal(m.dtype);
  judged.decided = judged.decided && std::isfinite(judged.tolerance) && !subnormal;
  return judged;
}

void CommonFactor::Add(double got, const Judgement& judged, const RoundingByValue& rounding) {
  const double slope = judged.expected / judged.tolerance;
  if (std::fabs(slope) < kClear) return;
  product_ += got / judged.tolerance * slope;
  square_ += slope * slope;
  got_square_ += got / judged.tolerance * (got / judged.tolerance);
  for (const auto& [value, size] : rounding)
    rounding_[value] += std::fabs(slope) * size / judged.tolerance;
  ++elements_;
}

double CommonFactor::allowed() const {
  // Five times the standard error of a regression, whose errors go their own ways; and a kernel
  // that cuts digits off is off by as much everywhere.
  const double rest = std::max(0.0, got_square_ - product_ * product_ / square_);
  const double own = 5 * std::sqrt(rest / static_cast<double>(elements_ - 1) / square_);
  double shared = 0;
  for (const auto& [value, size] : rounding_) shared += size * size;
  return std::max({own, kShared * std::sqrt(shared) / square_, 3 * Epsilon(dtype_)});
}

bool CommonFactor::applies() const { return IsNarrow(dtype_); }

bool CommonFactor::wrong() const {
  return applies() && elements_ >= kFew && square_ > 0 && std::fabs(value() - 1) > allowed();
}

}  // namespace opwright::check

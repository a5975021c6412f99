// SPDX-License-Identifier: Apache-2.0
#include "check/slope.h"

#include <algorithm>
#include <cmath>

namespace opwright::check {
namespace {

// How many times their noise two slopes may be apart.
constexpr double kApart = 4;
// Rounding errors of five values make a fourth difference of about eight times their size, and are
// counted twice.
constexpr double kFourth = 0.25;
// How many times its rounding an output must move to be a step.
constexpr double kStep = 8;
// How many times what rounding explains two steps may differ by before larger ones make no sense.
constexpr double kTooLarge = 16;
// From one step to the next, a million times smaller: that of x log x grows by so much too.
constexpr double kGrowth = 1.25;

}  // namespace

bool Moves(const Samples& s, const std::vector<double>& centre, size_t j) {
  return s.out[0][j] != centre[j] || s.out[1][j] != centre[j] || s.out[2][j] != centre[j] ||
         s.out[3][j] != centre[j];
}

Slope SlopeOf(const Samples& s, const OwnValues& own, double x, const std::vector<double>& c,
              const std::vector<bool>* moving) {
  const double epsilon = own.epsilon;
  const std::vector<double>& centre = own.values;
  const double length = s.at[2] - s.at[3];
  double wide = 0;
  double narrow = 0;
  double right = 0;  // one-sided, of the short step
  double left = 0;
  double gaps[2] = {};  // between the one-sided slopes of each output, by step
  double sizes = 0;
  double noise = 0;
  double fourth = 0;  // differences of the fourth order: where steps are small, of noise alone
  double floor = 0;
  double still_floor = 0;  // what an output that does not move could hide
  bool still = true;  // no finite output moves
  bool step = false;  // an output stays where it is for half the way, and then moves
  bool finite = true;
  Slope slope;
  slope.side_noise = 0;
  for (size_t j = 0; j < centre.size(); ++j) {
    const double o[4] = {s.out[0][j], s.out[1][j], s.out[2][j], s.out[3][j]};
    // Its cotangent is zero.
    if (!std::isfinite(centre[j])) {
      finite = false;
      continue;
    }
    const double weight = std::fabs(c[j]);
    const double size = std::min(1.0, own.size[j]);
    still_floor = std::max(still_floor, weight * std::max(std::fabs(centre[j]), size));
    if (!Moves(s, centre, j) && (moving == nullptr || !(*moving)[j])) continue;
    still = false;
    const double slopes[2] = {c[j] * (o[0] - o[1]) / (s.at[0] - s.at[1]),
                              c[j] * (o[2] - o[3]) / length};
    wide += slopes[0];
    narrow += slopes[1];
    slope.terms += std::fabs(slopes[1]);
    double r[2];
    double l[2];
    for (size_t k = 0; k < 2; ++k) {
      r[k] = c[j] * (o[2 * k] - centre[j]) / (s.at[2 * k] - x);
      l[k] = c[j] * (centre[j] - o[2 * k + 1]) / (x - s.at[2 * k + 1]);
      gaps[k] += std::fabs(r[k] - l[k]);
    }
    right += r[1];
    left += l[1];
    sizes += std::fabs(r[1]) + std::fabs(l[1]);
    // Of each output on its own: a kernel may choose another slope at each one's kink. Richardson's
    // step takes the first order out, and its size stands for what is left.
    const double sides[2] = {2 * r[1] - r[0], 2 * l[1] - l[0]};
    slope.low += std::min(sides[0], sides[1]);
    slope.high += std::max(sides[0], sides[1]);
    slope.side_noise += std::fabs(r[1] - r[0]) + std::fabs(l[1] - l[0]);
    const double rounded =
        std::max({own.noise[j], epsilon * std::fabs(o[0]), epsilon * std::fabs(o[1])});
    noise += weight * rounded;
    for (size_t side = 0; side < 2; ++side)
      step = step || (o[2 + side] == centre[j] && std::fabs(o[side] - centre[j]) > kStep * rounded);
    fourth += weight * std::fabs(o[0] + o[1] - 4 * (o[2] + o[3]) + 6 * centre[j]);
    floor += weight * size;
  }
  const double rounding = noise / length;
  slope.value = (4 * narrow - wide) / 3;
  slope.length = length;
  slope.rounding = kRichardson * rounding;
  slope.noise = std::fabs(narrow - wide) / 3 + slope.rounding;
  slope.sides = sizes;
  slope.floor = epsilon * (still ? still_floor : floor) / length;
  slope.side_noise += 5 * rounding;  // twice that of a short step, once that of a long one
  // Where the function is smooth, the gap between the one-sided slopes halves with the step. Two
  // outputs' kinks may cancel in the sum.
  slope.kink = !std::isfinite(slope.value) || step ||
               (gaps[1] > 0.7 * gaps[0] && gaps[1] > 1e-3 * sizes + 20 * rounding);
  // A kink between the two steps: they disagree by more than a smooth function can.
  const double size = std::fabs(right) + std::fabs(left);
  const bool torn = std::fabs(narrow - wide) > 2e-3 * size + 20 * rounding;
  slope.smooth = !slope.kink && !torn;
  if (slope.smooth) slope.noise = std::max(slope.noise, kRichardson * kFourth * fourth / length);
  // It may go to an output that is not finite.
  if (still && !finite) {
    slope.kink = true;
    slope.smooth = false;
    slope.side_noise = INFINITY;
  }
  return slope;
}

bool Unsettled(const Slope& slope, const Samples& s, const OwnValues& own, double x,
               const std::vector<double>& c) {
  const std::vector<double>& centre = own.values;
  double central = 0;
  double near[2] = {};
  double far[2] = {};
  double noise = 0;
  double size = 0;
  for (size_t j = 0; j < centre.size(); ++j) {
    if (!std::isfinite(centre[j])) continue;
    central += c[j] * (s.out[4][j] - s.out[5][j]) / (s.at[4] - s.at[5]);
    for (size_t side = 0; side < 2; ++side) {
      near[side] += std::fabs(c[j] * (s.out[2 + side][j] - centre[j]) / (s.at[2 + side] - x));
      far[side] += std::fabs(c[j] * (s.out[4 + side][j] - centre[j]) / (s.at[4 + side] - x));
    }
    const double largest = std::max(std::fabs(s.out[4][j]), std::fabs(s.out[5][j]));
    noise += std::fabs(c[j]) * std::max(own.noise[j], own.epsilon * largest);
    size = std::max(size, own.size[j]);
  }
  const double slack = 1e-3 * size + 20 * noise / (s.at[4] - s.at[5]);
  return (slope.smooth &&
          std::fabs(central - slope.value) > 0.1 * std::fabs(slope.value) + slack) ||
         far[0] > 1.5 * near[0] + slack || far[1] > 1.5 * near[1] + slack;
}

void FindEndless(const std::vector<Samples>& samples, const OwnValues& own,
                 const std::vector<double>& c, Slope* slope) {
  for (size_t j = 0; j < own.values.size(); ++j) {
    for (const size_t side : {0, 1}) {
      double before = 0;
      bool grows = true;
      for (const Samples& s : samples) {
        const double now = c[j] * (s.out[side][j] - own.values[j]) / s.at[side];
        grows = grows && std::isfinite(now) && now != 0 && (before == 0 || now / before > kGrowth);
        before = now;
      }
      if (grows) (before > 0 ? slope->up : slope->down) = true;
    }
  }
  if (slope->endless()) slope->smooth = false;
}

void Agreement::Add(const Slope& slope, double step) {
  if (std::isfinite(slope.sides)) {
    reach_ = std::max(reach_, slope.sides * step);
    if (++steps_ <= 2 && slope.sides > 2 * slope.rounding) first_reach_ = reach_;
  }
  if (ended_) return;
  // Larger steps go over it. Those that disagree by more than their noise are seen below.
  if (slope.kink) {
    ended_ = true;
    return;
  }
  for (const Taken& taken : taken_) {
    // Of a smaller step only rounding is off.
    if (std::fabs(slope.value - taken.slope.value) <= kApart * (slope.noise + taken.slope.rounding))
      continue;
    ended_ = true;
    return;
  }
  taken_.push_back({slope, step});
  if (slope.noise < taken_[best_].slope.noise) best_ = taken_.size() - 1;
  // The step is too large already, or the error grows from here on.
  ended_ = slope.noise > kTooLarge * slope.rounding ||
           slope.noise > kTooLarge * taken_[best_].slope.noise;
}

bool Agreement::settled(double size) const {
  const Slope& best = taken_[best_].slope;
  return !too_fast() && (taken_.size() > 1 || kApart * best.noise <= 0.01 * std::fabs(best.value) ||
                         kApart * best.noise <= 1e-6 * size);
}

Slope Agreement::Best() const {
  Slope best = taken_[best_].slope;
  best.smooth = true;
  // What smaller steps are off by is noise, and that of the best is smaller by as much as its step
  // is larger.
  for (size_t k = 0; k < best_; ++k)
    best.noise = std::max(best.noise, std::fabs(taken_[k].slope.value - best.value) *
                                          taken_[k].step / taken_[best_].step);
  if (best_ > 0) {
    best.before = taken_[best_ - 1].slope.value;
    best.before_noise = taken_[best_ - 1].slope.noise;
  }
  return best;
}

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
#include "check/numeric.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/dtype.h"

namespace opwright::check {
namespace {

// Inputs up to this size are differentiated whole, of larger ones this many elements.
constexpr int64_t kWhole = 256;
constexpr int64_t kSample = 24;
constexpr int64_t kEnds = 16;
constexpr int64_t kLeastBlock = 64;
// Where few are wanted: inputs up to this size are differentiated whole, of others so many elements
// anywhere.
constexpr int64_t kTiny = 8;
constexpr int kAnywhere = 4;
// Longer axes are long; see AddLarge and AddLongAxes of cases.cc.
constexpr int64_t kLongestShort = 67;

// The far smaller step, of the long one.
constexpr double kFar = 0x1p-10;
// How many steps say whether a slope grows without bound.
constexpr size_t kEndless = 4;

// Relative to max(1, |x|). After Richardson's step the truncation is of the fourth order; what is
// left is rounding, epsilon / step.
double StepOf(OpwrightDType dtype) {
  const double epsilon = Epsilon(dtype);
  return epsilon < 1e-12 ? 0x1p-12 : epsilon < 1e-5 ? 0x1p-6 : epsilon < 2e-3 ? 0x1p-3 : 0x1p-2;
}

// Steps in units of StepOf, from small to large, that a dtype can tell apart. A period that divides
// one of them divides no other.
std::vector<double> StepsOf(OpwrightDType dtype) {
  const double epsilon = Epsilon(dtype);
  if (epsilon < 1e-12)
    return {1.37 * 0x1p-16, 0.83 * 0x1p-12, 1.19 * 0x1p-8, 0.71 * 0x1p-4, 1,
            1.23 * 0x1p4,   0.87 * 0x1p8,   0x1p12};
  if (epsilon < 1e-5)
    return {1.37 * 0x1p-8, 0.71 * 0x1p-4, 1, 1.23 * 0x1p4, 0.87 * 0x1p8, 1.11 * 0x1p12, 0x1p16};
  return {0x1p-4, 0x1p-2, 1, 1.23 * 0x1p2, 0.87 * 0x1p4, 0x1p6};
}

// Moves elements together that are zero, as ties are, and each to the same side on its own. Where
// the outputs' changes do not add up, what differences of single elements say is not the gradient.
bool ZerosAddUp(Trial* trial, const Wanted& wanted, const OwnValues& own, Random* random) {
  const std::vector<double>& centre = own.values;
  Array& input = At(trial->inputs, wanted);
  std::vector<int64_t> zeros;
  for (int64_t k = 0; k < input.size(); ++k)
    if (input.Get(k) == 0) zeros.push_back(k);
  if (zeros.size() < 2 || input.size() > kWhole) return true;
  const double step = StepOf(trial->LeastFloat());
  const auto change = [&](std::vector<double>* sum, double sign) {
    if (!trial->Forward().ok()) return;
    const std::vector<double> now = FlatFloats(trial->outputs);
    for (size_t j = 0; j < now.size(); ++j) (*sum)[j] += sign * (now[j] - centre[j]);
  };
  bool add_up = true;
  for (int turn = 0; turn < 3 && add_up; ++turn) {
    std::vector<double> moves;
    for (size_t k = 0; k < zeros.size(); ++k)
      moves.push_back(turn == 0 ? 1 : random->Uniform(-1, 1));
    // Richardson's step takes the second order out: 4 f(h/2) - f(h).
    std::vector<double> rest(centre.size());
    for (const double h : {step, step / 2}) {
      const double weight = h == step ? -1 : 4;
      for (size_t k = 0; k < zeros.size(); ++k) input.Set(zeros[k], h * moves[k]);
      change(&rest, weight);
      for (int64_t k : zeros) input.Set(k, 0);
      for (size_t k = 0; k < zeros.size(); ++k) {
        input.Set(zeros[k], h * moves[k]);
        change(&rest, -weight);
        input.Set(zeros[k], 0);
      }
    }
    for (size_t j = 0; j < rest.size(); ++j)
      add_up = add_up && !(std::fabs(rest[j]) >
                           0.05 * step * own.size[j] + 40 * own.epsilon * std::fabs(centre[j]));
  }
  return add_up;
}

// Of many: some anywhere, and those where vector code and blocks begin and end, at powers of two,
// at the ends of the whole and of each dimension.
std::vector<int64_t> SampledElements(const Shape& shape, int64_t size, Random* random) {
  std::set<int64_t> found;
  for (int64_t k = 0; k < kSample; ++k) found.insert(random->Below(size));
  for (int64_t k = 0; k < kEnds; ++k) found.insert({k, size - 1 - k});
  for (int64_t k = kLeastBlock; k < size; k *= 2) found.insert({k - 1, k});
  int64_t inner = 1;
  for (size_t d = shape.size(); d-- > 0; inner *= shape[d])
    for (int64_t k = 0; k < kEnds / 2; ++k) {
      const int64_t block = inner * shape[d];
      found.insert(random->Below(size / block) * block + (shape[d] - 1) * inner +
                   random->Below(inner));
    }
  return {found.begin(), found.end()};
}

// On each long axis the last element and one from each power of two to the next, where blocks of
// usual sizes begin and end, each somewhere on the other axes; the ends of the whole, and some
// anywhere.
std::vector<int64_t> FewElements(const Shape& shape, int64_t size, Random* random) {
  std::set<int64_t> found = {0, size - 1};
  for (int k = 0; k < kAnywhere; ++k) found.insert(random->Below(size));
  int64_t inner = 1;
  for (size_t d = shape.size(); d-- > 0; inner *= shape[d]) {
    const int64_t length = shape[d];
    if (length <= kLongestShort) continue;
    const auto add = [&](int64_t at) {
      found.insert((random->Below(size / inner / length) * length + at) * inner +
                   random->Below(inner));
    };
    for (int k = 0; k < 2; ++k) add(length - 1);
    for (int64_t first = kLeastBlock; first < length; first *= 2) {
      const int64_t last = std::min(2 * first, length) - 1;
      const int64_t places[] = {first, last, first + random->Below(last - first + 1)};
      add(places[random->Below(3)]);
    }
  }
  return {found.begin(), found.end()};
}

}  // namespace

double RelativeTolerance(OpwrightDType dtype) {
  const double epsilon = Epsilon(dtype);
  return epsilon < 1e-12 ? 1e-6 : epsilon < 1e-5 ? 1e-3 : epsilon < 2e-3 ? 1e-2 : 0.05;
}

Numeric::Numeric(Trial* trial, const Wanted& wanted,
                 const std::vector<std::vector<double>>& cotangents, const OwnValues& own, bool few,
                 Random* random)
    : trial_(*trial),
      input_(At(trial->inputs, wanted)),
      cotangents_(cotangents),
      own_(own),
      zeros_add_up_(ZerosAddUp(trial, wanted, own, random)) {
  whole = input_.size() <= (few ? kTiny : kWhole);
  slopes.resize(cotangents.size());
  if (whole) {
    elements.resize(static_cast<size_t>(input_.size()));
    std::iota(elements.begin(), elements.end(), 0);
  } else {
    elements = few ? FewElements(input_.shape, input_.size(), random)
                   : SampledElements(input_.shape, input_.size(), random);
  }
  for (const int64_t element : elements) {
    const double x = input_.Get(element);
    Samples samples;
    const bool ok = Take(element, 1, x == 0, &samples);
    for (size_t c = 0; c < cotangents.size(); ++c) {
      Slope slope;
      slope.smooth = false;
      if (ok) slope = SlopeOf(samples, own_, x, cotangents[c], nullptr);
      slope.unsettled =
          ok && x == 0 && (!zeros_add_up_ || Unsettled(slope, samples, own_, x, cotangents[c]));
      slopes[c].push_back(slope);
    }
    FindEndless(element);
    moving_.emplace_back(own_.values.size());
    for (size_t j = 0; ok && j < own_.values.size(); ++j)
      moving_.back()[j] = Moves(samples, own_.values, j);
    if (!whole) continue;
    std::vector<double> column(own_.values.size());
    for (size_t j = 0; j < column.size(); ++j)
      column[j] = (4 * (samples.out[2][j] - samples.out[3][j]) / (samples.at[2] - samples.at[3]) -
                   (samples.out[0][j] - samples.out[1][j]) / (samples.at[0] - samples.at[1])) /
                  3;
    jacobian.push_back(std::move(column));
  }
}

void Numeric::FindEndless(int64_t element) {
  if (input_.Get(element) != 0) return;
  const OpwrightDType dtype = trial_.LeastFloat();
  // The smallest is far above what the dtype holds at least.
  const double shrink = SmallestPositive(dtype) > 1e-20 ? 0x1p-6 : 0x1p-20;
  std::vector<Samples> samples;
  for (auto& of_cotangent : slopes) {
    if (!of_cotangent.back().unsettled) continue;
    double scale = 1;
    while (samples.size() < kEndless) {
      samples.emplace_back();
      if (!Take(element, scale, false, &samples.back())) return;
      scale *= shrink;
    }
    check::FindEndless(samples, own_,
                       cotangents_[static_cast<size_t>(&of_cotangent - slopes.data())],
                       &of_cotangent.back());
  }
}

bool Numeric::Take(int64_t element, double scale, bool far, Samples* samples) {
  const double x = input_.Get(element);
  const double step = scale * StepOf(trial_.LeastFloat()) * std::max(1.0, std::fabs(x));
  const ArrayLists outputs = trial_.outputs;
  samples->count = far ? 6 : 4;
  bool ok = std::isfinite(x);
  for (size_t k = 0; k < samples->count; ++k) {
    input_.Set(element, x + (k % 2 == 0 ? 1 : -1) * step * (k < 2 ? 1 : k < 4 ? 0.5 : kFar));
    samples->at[k] = input_.Get(element);  // as it was rounded
    ok = ok && trial_.Forward().ok();
    samples->out[k] = FlatFloats(trial_.outputs);
  }
  input_.Set(element, x);
  trial_.outputs = outputs;
  return ok;
}

// Whether the last place of a narrow dtype moves the outputs much further than their slope: their
// steps are in the way.
bool Numeric::Jumps(const std::vector<bool>& moving, const std::vector<double>& c,
                    double by_slope) const {
  double noise = 0;
  double size = by_slope;
  for (size_t j = 0; j < moving.size(); ++j) {
    if (!moving[j] || !std::isfinite(own_.values[j])) continue;
    noise += std::fabs(c[j]) * own_.noise[j];
    size += std::fabs(c[j] * own_.values[j]);
  }
  return own_.epsilon > 1e-5 && noise > 8 * own_.epsilon * size;
}

RoundingByValue Numeric::RoundingOf(size_t k, size_t cotangent) const {
  RoundingByValue rounding;
  for (size_t j = 0; j < own_.values.size(); ++j)
    if (moving_[k][j] && std::isfinite(own_.values[j]))
      rounding[std::fabs(own_.values[j])] += kRichardson * std::fabs(cotangents_[cotangent][j]) *
                                             own_.noise[j] / slopes[cotangent][k].length;
  return rounding;
}

void Numeric::Refine(size_t k) {
  const double x = input_.Get(elements[k]);
  struct Level {
    double scale;
    bool still;  // no output moves
    Samples samples;
  };
  std::vector<Level> levels;
  std::vector<bool>& moving = moving_[k];
  for (const double scale : StepsOf(trial_.LeastFloat())) {
    Samples samples;
    if (!Take(elements[k], scale, false, &samples)) continue;
    // Points that the dtype rounds to one say nothing.
    if (!(samples.at[0] > samples.at[2] && samples.at[2] > x && x > samples.at[3] &&
          samples.at[3] > samples.at[1]))
      continue;
    bool still = true;
    for (size_t j = 0; j < moving.size(); ++j) {
      still = still && !Moves(samples, own_.values, j);
      moving[j] = moving[j] || Moves(samples, own_.values, j);
    }
    // A kernel that works in a narrower dtype inside does not see the smallest steps.
    if (scale == 1 && x != 0 && !still && own_.epsilon > Epsilon(trial_.LeastFloat()))
      std::erase_if(levels, [](const Level& level) { return level.still; });
    levels.push_back({scale, still, std::move(samples)});
  }
  const double size = own_.size.empty() ? 0 : *std::max_element(own_.size.begin(), own_.size.end());
  for (size_t c = 0; c < cotangents_.size(); ++c) {
    if (slopes[c][k].endless()) continue;
    Agreement agreement;
    for (const Level& level : levels)
      agreement.Add(SlopeOf(level.samples, own_, x, cotangents_[c], &moving), level.scale);
    if (agreement.empty()) {
      // The one step went over a kink without seeing it.
      Slope& slope = slopes[c][k];
      slope.unsettled =
          slope.unsettled || agreement.too_fast() || (slope.smooth && !levels.empty());
      continue;
    }
    slopes[c][k] = agreement.Best();
    slopes[c][k].unsettled = !agreement.settled(size) || (x == 0 && !zeros_add_up_) ||
                             Jumps(moving, cotangents_[c], slopes[c][k].terms * std::fabs(x));
  }
}

}  // namespace opwright::check

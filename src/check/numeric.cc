// SPDX-License-Identifier: Apache-2.0
#include "check/numeric.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "runtime/dtype.h"

namespace opwright::check {
namespace {

// Inputs up to this size are differentiated whole, of larger ones this many elements.
constexpr int64_t kWhole = 256;
constexpr int64_t kSample = 24;
constexpr int64_t kEnds = 16;

// The far smaller step, of the long one.
constexpr double kFar = 0x1p-10;

// The outputs at x + h, x - h, x + h/2, x - h/2; at 0 also with the far smaller step.
struct Samples {
  std::vector<double> out[6];
  double at[6];
  size_t count;
};

Slope SlopeOf(const Samples& s, const std::vector<double>& centre, double x,
              const std::vector<double>& c, double epsilon) {
  double wide = 0;
  double narrow = 0;
  double right = 0;  // one-sided, of the short step
  double left = 0;
  double gaps[2] = {};  // between the one-sided slopes of each output, by step
  double sizes = 0;
  double moved = 0;  // size of what rounding acts on
  bool still = true;  // no finite output moves
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
    if (o[0] == centre[j] && o[1] == centre[j] && o[2] == centre[j] && o[3] == centre[j]) continue;
    still = false;
    wide += c[j] * (o[0] - o[1]) / (s.at[0] - s.at[1]);
    narrow += c[j] * (o[2] - o[3]) / (s.at[2] - s.at[3]);
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
    moved += std::fabs(c[j]) * std::max({std::fabs(centre[j]), std::fabs(o[0]), std::fabs(o[1])});
  }
  const double rounding = epsilon * moved / (s.at[2] - s.at[3]);
  slope.value = (4 * narrow - wide) / 3;
  // Richardson's weights let 1.5 times the rounding of one difference through.
  slope.noise = std::fabs(narrow - wide) / 3 + 1.5 * rounding;
  slope.side_noise += 5 * rounding;  // twice that of a short step, once that of a long one
  // Where the function is smooth, the gap between the one-sided slopes halves with the step. Two
  // outputs' kinks may cancel in the sum.
  const bool kink = gaps[1] > 0.7 * gaps[0] && gaps[1] > 1e-3 * sizes + 20 * rounding;
  // A kink between the two steps: they disagree by more than a smooth function can.
  const double size = std::fabs(right) + std::fabs(left);
  const bool torn = std::fabs(narrow - wide) > 2e-3 * size + 20 * rounding;
  slope.smooth = std::isfinite(slope.value) && !kink && !torn;
  // It may go to an output that is not finite.
  if (still && !finite) {
    slope.smooth = false;
    slope.side_noise = INFINITY;
  }
  return slope;
}

// Whether the slopes at a far smaller step are others: `slope` is one of a scale only.
bool Unsettled(const Slope& slope, const Samples& s, const std::vector<double>& centre, double x,
               const std::vector<double>& c, double epsilon) {
  double central = 0;
  double near[2] = {};
  double far[2] = {};
  double moved = 0;
  for (size_t j = 0; j < centre.size(); ++j) {
    if (!std::isfinite(centre[j])) continue;
    central += c[j] * (s.out[4][j] - s.out[5][j]) / (s.at[4] - s.at[5]);
    for (size_t side = 0; side < 2; ++side) {
      near[side] += std::fabs(c[j] * (s.out[2 + side][j] - centre[j]) / (s.at[2 + side] - x));
      far[side] += std::fabs(c[j] * (s.out[4 + side][j] - centre[j]) / (s.at[4 + side] - x));
    }
    moved += std::fabs(c[j]) *
             std::max({std::fabs(centre[j]), std::fabs(s.out[4][j]), std::fabs(s.out[5][j])});
  }
  const double slack = 1e-3 + 20 * epsilon * moved / (s.at[4] - s.at[5]);
  return (slope.smooth &&
          std::fabs(central - slope.value) > 0.1 * std::fabs(slope.value) + slack) ||
         far[0] > 1.5 * near[0] + slack || far[1] > 1.5 * near[1] + slack;
}

// Moves elements together that are zero, as ties are, and each to the same side on its own. Where
// the outputs' changes do not add up, what differences of single elements say is not the gradient.
bool ZerosAddUp(Trial* trial, const Wanted& wanted, const std::vector<double>& centre,
                Random* random) {
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
    const double epsilon = Epsilon(trial->LeastFloat());
    for (size_t j = 0; j < rest.size(); ++j)
      add_up = add_up && !(std::fabs(rest[j]) > 0.05 * step + 40 * epsilon * std::fabs(centre[j]));
  }
  return add_up;
}

// Of many: some anywhere, and those where vector code and blocks begin and end, at the ends of the
// whole and of each dimension.
std::vector<int64_t> SampledElements(const Shape& shape, int64_t size, Random* random) {
  const auto below = [&](int64_t n) {
    return static_cast<int64_t>(random->Bits() % static_cast<uint64_t>(n));
  };
  std::set<int64_t> found;
  for (int64_t k = 0; k < kSample; ++k) found.insert(below(size));
  for (int64_t k = 0; k < kEnds; ++k) found.insert({k, size - 1 - k});
  int64_t inner = 1;
  for (size_t d = shape.size(); d-- > 0; inner *= shape[d])
    for (int64_t k = 0; k < kEnds / 2; ++k) {
      const int64_t block = inner * shape[d];
      found.insert(below(size / block) * block + (shape[d] - 1) * inner + below(inner));
    }
  return {found.begin(), found.end()};
}

}  // namespace

std::vector<double> FlatFloats(const ArrayLists& lists) {
  std::vector<double> flat;
  for (const auto& list : lists)
    for (const Array& array : list)
      for (int64_t k = 0; IsFloat(array.dtype) && k < array.size(); ++k)
        flat.push_back(array.Get(k));
  return flat;
}

double StepOf(OpwrightDType dtype) {
  const double epsilon = Epsilon(dtype);
  return epsilon < 1e-12 ? 0x1p-12 : epsilon < 1e-5 ? 0x1p-6 : epsilon < 2e-3 ? 0x1p-3 : 0x1p-2;
}

double RelativeTolerance(OpwrightDType dtype) {
  const double epsilon = Epsilon(dtype);
  return epsilon < 1e-12 ? 1e-6 : epsilon < 1e-5 ? 1e-3 : epsilon < 2e-3 ? 3e-2 : 0.1;
}

Numeric Differentiate(Trial* trial, const Wanted& wanted,
                      const std::vector<std::vector<double>>& cotangents, Random* random) {
  Array& input = At(trial->inputs, wanted);
  const ArrayLists outputs = trial->outputs;
  const std::vector<double> centre = FlatFloats(outputs);
  const double epsilon = Epsilon(trial->LeastFloat());
  const bool zeros_add_up = ZerosAddUp(trial, wanted, centre, random);
  Numeric numeric;
  numeric.whole = input.size() <= kWhole;
  numeric.slopes.resize(cotangents.size());
  if (numeric.whole) {
    numeric.elements.resize(static_cast<size_t>(input.size()));
    std::iota(numeric.elements.begin(), numeric.elements.end(), 0);
  } else {
    numeric.elements = SampledElements(input.shape, input.size(), random);
  }

  for (int64_t element : numeric.elements) {
    const double x = input.Get(element);
    const double step = StepOf(trial->LeastFloat()) * std::max(1.0, std::fabs(x));
    Samples samples;
    samples.count = x == 0 ? 6 : 4;
    bool ok = std::isfinite(x);
    for (size_t k = 0; k < samples.count; ++k) {
      input.Set(element, x + (k % 2 == 0 ? 1 : -1) * step * (k < 2 ? 1 : k < 4 ? 0.5 : kFar));
      samples.at[k] = input.Get(element);  // as it was rounded
      ok = ok && trial->Forward().ok();
      samples.out[k] = FlatFloats(trial->outputs);
    }
    input.Set(element, x);
    for (size_t c = 0; c < cotangents.size(); ++c) {
      Slope slope;
      slope.smooth = false;
      if (ok) slope = SlopeOf(samples, centre, x, cotangents[c], epsilon);
      slope.unsettled =
          ok && x == 0 &&
          (!zeros_add_up || Unsettled(slope, samples, centre, x, cotangents[c], epsilon));
      numeric.slopes[c].push_back(slope);
    }
    if (!numeric.whole) continue;
    std::vector<double> column(centre.size());
    for (size_t j = 0; j < centre.size(); ++j)
      column[j] = (4 * (samples.out[2][j] - samples.out[3][j]) / (samples.at[2] - samples.at[3]) -
                   (samples.out[0][j] - samples.out[1][j]) / (samples.at[0] - samples.at[1])) /
                  3;
    numeric.jacobian.push_back(std::move(column));
  }
  trial->outputs = outputs;
  return numeric;
}

}  // namespace opwright::check

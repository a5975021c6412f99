// SPDX-License-Identifier: Apache-2.0
#include "check/clamp.h"

#include <algorithm>
#include <cmath>

#include "base/dtype.h"

namespace opwright::check {
namespace {

constexpr int kMoves = 8;
// The edge is found as exactly as float64 has it, far below any narrower dtype's last place.
constexpr int kHalvings = 44;
// Of a sum of clamped elements so many are looked at.
constexpr int64_t kSample = 24;
// At an edge the function goes on where it was; at a jump it is no clamp.
constexpr double kJump = 0.1;

// The way of one input from where it is to another place.
class Way {
 public:
  Way(const Trial& trial, size_t input, size_t item, const Result& result, double epsilon,
      Random* random)
      : trial_(trial),
        input_(trial_.inputs[input][item]),
        from_(input_),
        result_(result),
        epsilon_(epsilon),
        random_(*random),
        here_(result_(&trial_)) {}

  const Array& from() const { return from_; }

  // Whether it is the same wherever rounding takes the elements that `to` moves.
  bool Still(const Array& to) {
    for (int k = 0; k < 3; ++k)
      if (!(Nudged(to, 0) == here_)) return false;
    return true;
  }
  // What rounding does at the edge between here and there; 0: there is none.
  double Spread(const Array& to) {
    if (!std::isfinite(here_) || At(to, 1) == here_ || std::isnan(At(to, 1))) return 0;
    double near = 0;
    double far = 1;
    for (int k = 0; k < kHalvings; ++k) {
      const double middle = (near + far) / 2;
      (At(to, middle) == here_ ? near : far) = middle;
    }
    const double jump = std::fabs(At(to, far) - here_);
    double spread = 0;
    for (int k = 0; k < kMoves; ++k) {
      const double moved = std::fabs(Nudged(to, far) - here_);
      spread = std::isfinite(moved) ? std::max(spread, moved) : INFINITY;
    }
    return jump <= kJump * spread ? spread : 0;
  }

 private:
  double At(const Array& to, double part) {
    for (int64_t k = 0; k < from_.size(); ++k)
      input_.Set(k, from_.Get(k) + part * (to.Get(k) - from_.Get(k)));
    return result_(&trial_);
  }
  double Nudged(const Array& to, double part) {
    (void)At(to, part);
    const Array exact = input_;
    Nudge(&input_, epsilon_, 1, &random_);
    for (int64_t k = 0; k < from_.size(); ++k)
      if (to.Get(k) == from_.Get(k)) input_.Set(k, exact.Get(k));
    return result_(&trial_);
  }

  Trial trial_;
  Array& input_;
  const Array from_;
  const Result& result_;
  double epsilon_;
  Random& random_;
  double here_;
};

// Where else the input may be: at zero, on the other side of it, at other values.
std::vector<Array> Elsewhere(const Array& from, const std::vector<Trial>& others, size_t input,
                             size_t item) {
  std::vector<Array> places(2, from);
  for (int64_t k = 0; k < from.size(); ++k) {
    places[0].Set(k, 0);
    places[1].Set(k, -from.Get(k));
  }
  for (const Trial& other : others) places.push_back(other.inputs[input][item]);
  return places;
}

double Largest(Way* way, const std::vector<Array>& places) {
  double spread = 0;
  for (const Array& to : places) spread = std::max(spread, way->Spread(to));
  return spread;
}

// Of single elements, where the result is a sum over many that are clamped or not.
double OfElements(Way* way, const std::vector<Array>& places) {
  const Array& from = way->from();
  const int64_t step = std::max<int64_t>(1, from.size() / kSample);
  double sum = 0;
  for (int64_t k = 0; k < from.size(); k += step) {
    std::vector<Array> moved;
    for (const Array& to : places) {
      moved.push_back(from);
      moved.back().Set(k, to.Get(k));
    }
    if (way->Still(moved[1])) sum += static_cast<double>(step) * Largest(way, moved);
  }
  return sum;
}

}  // namespace

double ClampSpread(const Trial& trial, const std::vector<Trial>& others, const Result& result,
                   double epsilon, Random* random) {
  double spread = 0;
  for (size_t i = 0; i < trial.inputs.size(); ++i) {
    for (size_t k = 0; k < trial.inputs[i].size(); ++k) {
      if (!IsFloat(trial.inputs[i][k].dtype) || trial.inputs[i][k].size() == 0) continue;
      Way way(trial, i, k, result, epsilon, random);
      const std::vector<Array> places = Elsewhere(way.from(), others, i, k);
      spread += way.Still(places[1]) ? Largest(&way, places) : OfElements(&way, places);
    }
  }
  return spread;
}

}  // namespace opwright::check

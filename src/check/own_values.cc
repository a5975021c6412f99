// SPDX-License-Identifier: Apache-2.0
#include "check/own_values.h"

#include <algorithm>
#include <cmath>

#include "base/dtype.h"

namespace opwright::check {
namespace {

constexpr int kNudges = 4;
// In units of the last place: results that move no further are as well-conditioned as a product.
constexpr double kOrdinary = 4;

// Each number by the last place of its own dtype, or of what the kernel works in; zeros, and so
// ties at a kink, stay.
void NudgeLastPlace(ArrayLists* lists, double epsilon, Random* random) {
  for (auto& list : *lists)
    for (Array& array : list)
      if (IsFloat(array.dtype)) Nudge(&array, std::max(epsilon, Epsilon(array.dtype)), 0, random);
}

void Widen(double was, double is, double* noise) {
  if (std::isfinite(is - was)) *noise = std::max(*noise, std::fabs(is - was));
}

// Of each tensor the largest finite value, for all of its elements.
std::vector<double> Sizes(const ArrayLists& lists) {
  std::vector<double> sizes;
  for (const auto& list : lists)
    for (const Array& array : list) {
      if (!IsFloat(array.dtype)) continue;
      sizes.insert(sizes.end(), static_cast<size_t>(array.size()), array.Largest());
    }
  return sizes;
}

// Whether these are numbers that a kernel rounded to float32.
bool AreSingles(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double v) {
    return !std::isfinite(v) || static_cast<double>(static_cast<float>(v)) == v;
  });
}
bool AreIntegers(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](double v) { return !std::isfinite(v) || v == std::floor(v); });
}

// A float64 operator whose kernel works in float32 is as coarse as that.
double OwnEpsilon(const Trial& trial, const std::vector<Trial>& others) {
  const double epsilon = Epsilon(trial.LeastFloat());
  std::vector<double> values = FlatFloats(trial.outputs);
  for (const Trial& other : others)
    for (const double value : FlatFloats(other.outputs)) values.push_back(value);
  return epsilon < 1e-12 && AreSingles(values) && !AreIntegers(values) ? Epsilon(kFloat32)
                                                                       : epsilon;
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

std::vector<Trial> WithOtherValues(const Trial& trial, Random* random) {
  std::vector<Trial> others;
  for (const Values values :
       {Values::kNormal, Values::kPositive, Values::kNormal, Values::kPositive}) {
    Trial other(trial, trial.column());
    other.Refill(values, random);
    if (other.Forward().ok()) others.push_back(std::move(other));
  }
  return others;
}

OwnValues MeasureOwnValues(const Trial& trial, Random* random) {
  OwnValues own;
  own.values = FlatFloats(trial.outputs);
  const std::vector<Trial> others = WithOtherValues(trial, random);
  own.epsilon = OwnEpsilon(trial, others);
  const double smallest = SmallestPositive(trial.LeastFloat());
  for (const double value : own.values)
    own.noise.push_back(std::isfinite(value) ? std::max(own.epsilon * std::fabs(value), smallest)
                                             : 0);
  const double inner = own.epsilon > Epsilon(trial.LeastFloat()) ? own.epsilon : 0;
  for (int k = 0; k < kNudges; ++k) {
    Trial nudged(trial, trial.column());
    NudgeLastPlace(&nudged.inputs, inner, random);
    if (!nudged.Forward().ok()) continue;
    const std::vector<double> moved = FlatFloats(nudged.outputs);
    for (size_t j = 0; j < moved.size(); ++j) {
      const double ordinary = kOrdinary * own.epsilon * std::fabs(own.values[j]);
      if (std::fabs(moved[j] - own.values[j]) > ordinary)
        Widen(own.values[j], moved[j], &own.noise[j]);
    }
    own.nudged.push_back(std::move(nudged));
  }
  own.size = Sizes(trial.outputs);
  for (const Trial& other : others) {
    const std::vector<double> sizes = Sizes(other.outputs);
    for (size_t j = 0; j < sizes.size(); ++j) own.size[j] = std::max(own.size[j], sizes[j]);
  }
  return own;
}

std::vector<std::vector<double>> GradientNoise(OwnValues* own, const ArrayLists& cotangents,
                                               Random* random) {
  std::vector<std::vector<double>> noise;
  std::vector<std::vector<double>> first;
  for (Trial& trial : own->nudged) {
    ArrayLists nudged = cotangents;
    NudgeLastPlace(&nudged, 0, random);
    ArrayLists gradients = trial.MakeGradients();
    if (!trial.Backward(nudged, gradients).ok()) continue;
    std::vector<std::vector<double>> now;
    for (const auto& list : gradients)
      for (const Array& array : list) now.push_back(FlatFloats({{array}}));
    if (first.empty()) {
      first = now;
      for (const auto& values : first) noise.emplace_back(values.size());
    }
    for (size_t t = 0; t < now.size(); ++t)
      for (size_t e = 0; e < now[t].size(); ++e) Widen(first[t][e], now[t][e], &noise[t][e]);
  }
  return noise;
}

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
#include "check/column.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <utility>

#include "base/dtype.h"
#include "base/dtype_name.h"
#include "base/text.h"
#include "check/clamp.h"
#include "check/jitter.h"
#include "check/own_values.h"

namespace opwright::check {
namespace {

// How often values are moved to see how far results go with them, and how many times that a result
// may be off: the rounding of each step of a kernel is no larger than such a move.
constexpr int kMoves = 8;
constexpr double kSpreads = 4;
// In units of the last place of the largest: rounding takes results to both sides, and those of a
// 16-bit float no further than this to one side at each move.
constexpr double kSteady = 4;
// Results of the size of the operator's others, up to this, may be what is left of terms of that
// size: those of a 16-bit float are compared more closely, since less else is known of them.
constexpr double kUsual = 4;
constexpr double kUsualNarrow = 0.25;
// Where the worst elements differ by no more than clamps explain, so do the others.
constexpr size_t kMostClamped = 12;

// Whether each input and output is a float in both columns or in neither, and a complex number in
// neither: else the same values cannot be had in both, or nothing says that the results are alike.
bool HasSameKinds(const OpwrightOpDef& def, int32_t a, int32_t b) {
  const auto same = [&](const OpwrightParamDef* param) {
    return IsFloat(param->dtypes[a]) == IsFloat(param->dtypes[b]) &&
           param->dtypes[a].code != kOpwrightComplex && param->dtypes[b].code != kOpwrightComplex;
  };
  return std::all_of(def.inputs, def.inputs + def.num_inputs, same) &&
         std::all_of(def.outputs, def.outputs + def.num_outputs, same);
}

double Size(const ArrayLists& lists) {
  double n = 0;
  for (const auto& list : lists)
    for (const Array& array : list) n += static_cast<double>(array.size());
  return n;
}

// How many terms of a sum an element may be.
double Terms(const ArrayLists& from, const Array& to) {
  return Size(from) / std::max(1.0, static_cast<double>(to.size()));
}

// The largest distance of each element from where it was. One that is no number any more may be
// anywhere.
void Widen(const Array& was, const Array& is, std::vector<double>* spread) {
  spread->resize(static_cast<size_t>(was.size()));
  for (int64_t k = 0; k < was.size(); ++k) {
    const double moved = std::fabs(is.Get(k) - was.Get(k));
    double& widest = (*spread)[static_cast<size_t>(k)];
    widest = std::isfinite(moved) ? std::max(widest, moved) : INFINITY;
  }
}

// The less precise column sets what can be told apart.
struct Comparison {
  Recorder& recorder;
  Random random;
  Trial own;
  Trial other;
  const bool one_sign;  // the gradients of the outputs are positive, as the inputs are
  const double epsilon = std::max(Epsilon(own.LeastFloat()), Epsilon(other.LeastFloat()));
  const bool narrow = epsilon > 1e-5;
  const std::string reference = DTypeName(other.LeastFloat());
  // The other column's, with values that were nudged. How far its results go shows how far rounding
  // takes those of an ill-conditioned operator.
  std::vector<Trial> moved = {};
  // The other column's at values of other kinds: they show how large results are.
  std::vector<Trial> at_others = WithOtherValues(other, &random);
  // This column's, with the same values: an error that goes with rounding is another at each.
  std::vector<Trial> own_moved = {};

  // Moves values by what the less precise column cannot tell apart.
  void Nudge(ArrayLists* lists);
  // size: of the results at other values. result: element k of a call in the other column.
  using ElementOf = std::function<double(Trial* trial, int64_t k)>;
  void Compare(const Array& got, const Array& expected, const std::vector<double>& spread,
               const Jitter& jitter, double terms, double size, const std::string& argument,
               const ElementOf& result);
  // The largest that no clamp explains, if there is one.
  std::optional<Difference> Unexplained(std::vector<std::pair<int64_t, Difference>> off,
                                        const ElementOf& result);
  void CompareExact(size_t o, size_t k);
  void CompareOutputs();
  void CompareGradients();
};

void Comparison::Nudge(ArrayLists* lists) {
  for (auto& list : *lists)
    for (Array& array : list) check::Nudge(&array, epsilon, 1, &random);
}

void Comparison::Compare(const Array& got, const Array& expected, const std::vector<double>& spread,
                         const Jitter& jitter, double terms, double size,
                         const std::string& argument, const ElementOf& result) {
  // Of values as large as the operator's results elsewhere, whatever this one is: it may be a
  // difference of such.
  const double scale = std::max(std::min(narrow ? kUsualNarrow : kUsual, size), expected.Largest());
  // In units of the last place; rounding errors of a sum grow with the root of its length, and sums
  // of 16-bit floats are due in float32 at least.
  const double least = 4 * std::min(epsilon, Epsilon(kFloat32)) * std::sqrt(terms) * scale +
                       4 * SmallestPositive(own.LeastFloat());
  const double rounding = 16 * epsilon * scale + least;
  const double largest = LargestFinite(got.dtype);
  std::vector<std::pair<int64_t, Difference>> off;
  for (int64_t k = 0; k < got.size(); ++k) {
    const double a = got.Get(k);
    const double b = expected.Get(k);
    const double moved = spread[static_cast<size_t>(k)];
    const double tolerance = rounding + kSpreads * (moved + jitter.RangeOf(k));
    // What it is made of may not fit where it is itself large.
    const double most = std::isfinite(a) ? largest : narrow ? largest / 16 : std::sqrt(largest);
    if (!std::isfinite(b) || !std::isfinite(tolerance) || std::fabs(b) > most) continue;
    const double error = std::isfinite(a) ? std::fabs(a - b) : INFINITY;
    const double steady = kSteady * epsilon * scale + least + moved;
    if (!(error <= tolerance))
      off.push_back({k, {error, tolerance, a, b, IndexText(got.shape, k)}});
    else if (narrow && jitter.SteadyOf(k) > steady)
      off.push_back({k, {jitter.SteadyOf(k), steady, a, b, IndexText(got.shape, k)}});
  }
  if (const std::optional<Difference> worst = Unexplained(std::move(off), result))
    recorder.Add("CK016", Severity::kError, argument,
                 StrCat(argument, " in ", DTypeName(got.dtype), " differs from the ", reference,
                        " column's by more than its rounding explains"),
                 "", &*worst);
}

std::optional<Difference> Comparison::Unexplained(std::vector<std::pair<int64_t, Difference>> off,
                                                  const ElementOf& result) {
  std::stable_sort(off.begin(), off.end(),
                   [](const auto& a, const auto& b) { return a.second.error > b.second.error; });
  if (off.size() > kMostClamped) off.resize(kMostClamped);
  for (auto& [element, difference] : off) {
    const int64_t k = element;
    difference.tolerance +=
        kSpreads *
        ClampSpread(
            other, at_others, [&](Trial* trial) { return result(trial, k); }, epsilon, &random);
    if (!(difference.error <= difference.tolerance)) return difference;
  }
  return std::nullopt;
}

// Whether elements without floats say something: of one dtype, or of wide integers, which hold what
// the cases make; the ends of a range are those of its dtype, as where a minimum begins.
bool SayMuch(OpwrightDType a, OpwrightDType b) {
  constexpr int kWide = 32;
  return a == b || (a.code == b.code && a.bits >= kWide && b.bits >= kWide);
}
bool IsSmall(double value) { return std::fabs(value) < 0x1p24; }

// Of an output without floats: where no move changes an element, both columns have the same.
void Comparison::CompareExact(size_t o, size_t k) {
  const Array& got = own.outputs[o][k];
  const Array& expected = other.outputs[o][k];
  if (!SayMuch(got.dtype, expected.dtype)) return;
  for (int64_t e = 0; e < got.size(); ++e) {
    const double a = got.Get(e);
    const double b = expected.Get(e);
    if (a == b || !IsSmall(a) || !IsSmall(b)) continue;
    bool steady = !moved.empty();
    for (size_t m = 0; m < moved.size() && steady; ++m)
      steady = moved[m].outputs[o][k].Get(e) == b && own_moved[m].outputs[o][k].Get(e) == a;
    if (!steady) continue;
    const std::string name = StrCat("output ", ItemName(*own.def().outputs[o], k));
    const Difference difference = {std::fabs(a - b), 0, a, b, IndexText(got.shape, e)};
    recorder.Add("CK016", Severity::kError, name,
                 StrCat(name, " in the column ", ColumnText(own.def(), own.column()),
                        " is another than in ", ColumnText(own.def(), other.column())),
                 "", &difference);
    return;
  }
}

void Comparison::CompareOutputs() {
  for (size_t o = 0; o < own.outputs.size(); ++o)
    for (size_t k = 0; k < own.outputs[o].size(); ++k) {
      const Array& expected = other.outputs[o][k];
      if (!IsFloat(expected.dtype)) {
        CompareExact(o, k);
        continue;
      }
      std::vector<double> spread(static_cast<size_t>(expected.size()));
      Jitter jitter(expected);
      jitter.Add(own.outputs[o][k], expected);
      for (size_t m = 0; m < moved.size(); ++m) {
        Widen(expected, moved[m].outputs[o][k], &spread);
        jitter.Add(own_moved[m].outputs[o][k], moved[m].outputs[o][k]);
      }
      double size = 0;
      for (const Trial& trial : at_others) size = std::max(size, trial.outputs[o][k].Largest());
      Compare(own.outputs[o][k], expected, spread, jitter, Terms(own.inputs, expected), size,
              StrCat("output ", ItemName(*own.def().outputs[o], k)), [&](Trial* trial, int64_t e) {
                return trial->Forward().ok() ? trial->outputs[o][k].Get(e) : NAN;
              });
    }
}

void Comparison::CompareGradients() {
  // Values that both columns hold.
  ArrayLists own_cotangents = own.MakeCotangents(&random);
  ArrayLists cotangents = other.MakeCotangents(&random);
  for (size_t o = 0; o < cotangents.size(); ++o)
    for (size_t k = 0; k < cotangents[o].size(); ++k)
      for (int64_t e = 0; e < cotangents[o][k].size(); ++e) {
        const double value = own_cotangents[o][k].Get(e);
        cotangents[o][k].Set(e, one_sign ? std::fabs(value) : value);
        own_cotangents[o][k].Set(e, cotangents[o][k].Get(e));
      }
  ArrayLists expected = other.MakeGradients();
  ArrayLists got = own.MakeGradients();
  if (Status status = other.Backward(cotangents, expected); !status.ok()) {
    recorder.Add(
        "CK013", Severity::kError, "",
        StrCat("the backward call fails in the ", reference, " column: ", status.error().message));
    return;
  }
  if (!own.Backward(own_cotangents, got).ok()) return;
  std::vector<ArrayLists> moved_gradients;
  std::vector<std::pair<ArrayLists, ArrayLists>> pairs;  // of this column and the other
  for (size_t m = 0; m < moved.size(); ++m) {
    Trial& trial = moved[m];
    std::pair<ArrayLists, ArrayLists> pair = {own_moved[m].MakeGradients(), trial.MakeGradients()};
    if (own_moved[m].Backward(own_cotangents, pair.first).ok() &&
        trial.Backward(cotangents, pair.second).ok())
      pairs.push_back(std::move(pair));
    // A gradient that is made of outputs gets them rounded.
    Nudge(&trial.outputs);
    ArrayLists gradients = trial.MakeGradients();
    if (trial.Backward(cotangents, gradients).ok()) moved_gradients.push_back(std::move(gradients));
  }
  std::vector<ArrayLists> at_others_gradients;
  for (Trial& trial : at_others) {
    ArrayLists gradients = trial.MakeGradients();
    if (trial.Backward(cotangents, gradients).ok())
      at_others_gradients.push_back(std::move(gradients));
  }
  // What cancels in a gradient may be as large as the outputs times their gradients.
  double through = 0;
  for (size_t o = 0; o < cotangents.size() && !narrow; ++o)
    for (size_t k = 0; k < cotangents[o].size(); ++k)
      through = std::max(through, cotangents[o][k].Largest() * other.outputs[o][k].Largest());
  for (const Wanted& w : own.wanted()) {
    double size = std::max(through, At(expected, w).Largest());
    for (const ArrayLists& gradients : at_others_gradients)
      size = std::max(size, At(gradients, w).Largest());
    std::vector<double> spread(static_cast<size_t>(At(expected, w).size()));
    for (const ArrayLists& gradients : moved_gradients)
      Widen(At(expected, w), At(gradients, w), &spread);
    Jitter jitter(At(expected, w));
    jitter.Add(At(got, w), At(expected, w));
    for (const auto& [own_gradients, other_gradients] : pairs)
      jitter.Add(At(own_gradients, w), At(other_gradients, w));
    // The rounding of terms that cancel and are divided by the input itself, as in
    // (cos(x) x - sin(x)) / x^2.
    const Array& input = At(own.inputs, w);
    for (int64_t k = 0; k < input.size(); ++k)
      if (input.Get(k) != 0)
        spread[static_cast<size_t>(k)] += std::min(1.0, size) * epsilon / std::fabs(input.Get(k));
    Compare(At(got, w), At(expected, w), spread, jitter, Terms(own_cotangents, At(got, w)), size,
            StrCat("gradient of input ",
                   ItemName(*own.def().inputs[w.input], static_cast<size_t>(w.item))),
            [&](Trial* trial, int64_t e) {
              ArrayLists gradients = trial->MakeGradients();
              const bool ok = trial->Forward().ok() && trial->Backward(cotangents, gradients).ok();
              return ok ? At(gradients, w).Get(e) : NAN;
            });
  }
}

bool IsLong(const ArrayLists& lists) {
  constexpr int64_t kLong = 1000;
  for (const auto& list : lists)
    for (const Array& array : list)
      if (array.size() >= kLong) return true;
  return false;
}

// positive: the inputs are, and the operator may not take them.
void CompareAt(const Trial& trial, Recorder* recorder, uint64_t seed, int32_t column,
               bool gradients, bool positive) {
  const Trial other(trial, column);
  Comparison at{*recorder, Random(seed), Trial(other, trial.column()), other, positive};
  if (Status status = at.other.Forward(); !status.ok()) {
    if (!positive)
      recorder->Add("CK016", Severity::kError, "",
                    StrCat("the ", at.reference, " column fails where another column does not: ",
                           status.error().message));
    return;
  }
  // These values may be others than those that it took.
  if (!at.own.Forward().ok()) return;
  for (int k = 0; k < kMoves; ++k) {
    Trial nudged(at.other, column);
    at.Nudge(&nudged.inputs);
    Trial own(nudged, trial.column());
    Trial moved(own, column);
    if (!moved.Forward().ok() || !own.Forward().ok()) continue;
    at.moved.push_back(std::move(moved));
    at.own_moved.push_back(std::move(own));
  }
  at.CompareOutputs();
  if (gradients) at.CompareGradients();
}

}  // namespace

// At values that both columns hold: a column is no less right for being the more precise.
void CompareColumns(const Trial& trial, Recorder* recorder, uint64_t seed, int32_t column,
                    bool gradients) {
  if (!HasSameKinds(trial.def(), trial.column(), column)) return;
  recorder->Stage("comparison with another dtype column");
  CompareAt(trial, recorder, seed, column, gradients, false);
  // A sum that a 16-bit float cannot hold shows where its terms are of one sign.
  if (!IsNarrow(trial.LeastFloat()) || !IsLong(trial.inputs) || recorder->Has("CK016")) return;
  Trial positive(trial, trial.column());
  Random random(seed ^ 0x85ebca6bu);
  positive.Refill(Values::kPositive, &random);
  CompareAt(positive, recorder, seed, column, gradients, true);
}

}  // namespace opwright::check

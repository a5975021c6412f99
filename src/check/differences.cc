// SPDX-License-Identifier: Apache-2.0
#include "check/differences.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "check/judgement.h"
#include "check/kind.h"
#include "runtime/dtype.h"

namespace opwright::check {
namespace {

constexpr int kCotangents = 3;

// An output that is not finite has no slope; the others still do.
void LeaveOutNonFinite(const ArrayLists& outputs, ArrayLists* cotangents) {
  for (size_t o = 0; o < cotangents->size(); ++o)
    for (size_t k = 0; k < (*cotangents)[o].size(); ++k)
      for (int64_t e = 0; e < outputs[o][k].size(); ++e)
        if (!std::isfinite(outputs[o][k].Get(e))) (*cotangents)[o][k].Set(e, 0);
}

}  // namespace

void Differences::Run() {
  recorder_.Stage("differences of the forward call");
  std::vector<ArrayLists> cotangents;
  std::vector<std::vector<double>> flat;
  std::vector<ArrayLists> gradients;
  for (int k = 0; k < kCotangents; ++k) {
    cotangents.push_back(trial_.MakeCotangents(&random_));
    LeaveOutNonFinite(trial_.outputs, &cotangents.back());
    flat.push_back(FlatFloats(cotangents.back()));
    gradients.push_back(trial_.MakeGradients());
    const Status status = trial_.Backward(cotangents.back(), gradients.back());
    if (!status.ok()) {
      recorder_.Add("CK013", Severity::kError, "",
                    StrCat("the backward call fails for other gradients of the outputs: ",
                           status.error().message));
      return;
    }
  }
  std::vector<Numeric> numeric;
  for (const Wanted& w : wanted_) numeric.push_back(Differentiate(&trial_, w, flat, &random_));
  for (size_t i = 0; i < wanted_.size(); ++i)
    for (size_t k = 0; k < flat.size(); ++k)
      CompareRow(i, numeric, k, At(gradients[k], wanted_[i]), flat[k]);
}

void Differences::CompareRow(size_t wanted, const std::vector<Numeric>& numeric, size_t cotangent,
                             const Array& gradient, const std::vector<double>& flat_cotangent) {
  RowRecord* const row = recorder_.Row(wanted_[wanted].row);
  if (row == nullptr) return;
  if (row->used == 0) {
    row->used = 1;
    row->right = 1;
  }
  const Numeric& n = numeric[wanted];
  const OpwrightDType dtype = trial_.LeastFloat();
  double scale = 0;
  for (const Slope& slope : n.slopes[cotangent])
    if (slope.smooth) scale = std::max(scale, std::fabs(slope.value));
  const std::vector<double> values = FlatFloats(trial_.outputs);
  const bool finite =
      std::all_of(values.begin(), values.end(), [](double v) { return std::isfinite(v); });
  bool wrong = false;
  for (size_t k = 0; k < n.elements.size(); ++k) {
    const double got = gradient.Get(n.elements[k]);
    const Judgement judged = Judge(n.slopes[cotangent][k], got, scale, dtype);
    // What is not finite may come from an output that is not, times zero.
    if (!judged.decided || (!std::isfinite(got) && !finite)) {
      ++row->skipped;
      continue;
    }
    ++row->elements;
    wrong = wrong || judged.error > judged.tolerance;
    const bool worse = judged.error / judged.tolerance >
                       (row->worst.tolerance > 0 ? row->worst.error / row->worst.tolerance : -1);
    if (worse)
      row->worst = ToRecord({judged.error, judged.tolerance, got, judged.expected,
                             IndexText(gradient.shape, n.elements[k])});
  }
  if (!wrong) return;
  row->right = 0;
  if (row->kind.chars[0] == 0 && n.whole)
    row->kind = KindOf(wanted, numeric, cotangent, gradient, flat_cotangent).c_str();
}

std::string Differences::KindOf(size_t wanted, const std::vector<Numeric>& numeric,
                                size_t cotangent, const Array& gradient,
                                const std::vector<double>& flat_cotangent) const {
  Suspect suspect;
  const Numeric& n = numeric[wanted];
  suspect.shape = gradient.shape;
  suspect.input = FlatFloats({{At(trial_.inputs, wanted_[wanted])}});
  suspect.tolerance = std::max(1e-5, 3 * RelativeTolerance(trial_.LeastFloat()));
  suspect.cotangent = flat_cotangent;
  suspect.jacobian = &n.jacobian;
  for (size_t k = 0; k < n.elements.size(); ++k) {
    const Slope& slope = n.slopes[cotangent][k];
    suspect.got.push_back(gradient.Get(n.elements[k]));
    suspect.expected.push_back(slope.smooth ? slope.value : suspect.got.back());
  }
  for (size_t i = 0; i < wanted_.size(); ++i) {
    if (i == wanted || !numeric[i].whole) continue;
    Named other{trial_.NameOf(wanted_[i]), {}};
    for (const Slope& slope : numeric[i].slopes[cotangent]) other.values.push_back(slope.value);
    suspect.others.push_back(std::move(other));
  }
  const auto add = [&](const OpwrightParamDef* const* params, const ArrayLists& lists) {
    for (size_t i = 0; i < lists.size(); ++i)
      for (size_t k = 0; k < lists[i].size(); ++k)
        if (IsFloat(lists[i][k].dtype))
          suspect.factors.push_back({ItemName(*params[i], k), FlatFloats({{lists[i][k]}})});
  };
  add(trial_.def().inputs, trial_.inputs);
  add(trial_.def().outputs, trial_.outputs);
  return LikelyKind(suspect);
}

}  // namespace opwright::check

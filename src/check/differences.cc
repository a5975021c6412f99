// SPDX-License-Identifier: Apache-2.0
#include "check/differences.h"

#include <algorithm>
#include <cmath>

#include "base/dtype.h"
#include "base/text.h"
#include "check/kind.h"
#include "check/number_text.h"

namespace opwright::check {
namespace {

constexpr int kCotangents = 3;
// Terms that cancel may have been divided by something small before, as the root of a variance.
constexpr double kCancelled = 1024;

// An output that is not finite has no slope; the others still do.
void LeaveOutNonFinite(const ArrayLists& outputs, ArrayLists* cotangents) {
  for (size_t o = 0; o < cotangents->size(); ++o)
    for (size_t k = 0; k < (*cotangents)[o].size(); ++k)
      for (int64_t e = 0; e < outputs[o][k].size(); ++e)
        if (!std::isfinite(outputs[o][k].Get(e))) (*cotangents)[o][k].Set(e, 0);
}

// Where the terms of a long sum are of one sign, those that are missing show.
void MakePositive(ArrayLists* cotangents) {
  for (auto& list : *cotangents)
    for (Array& array : list)
      for (int64_t e = 0; e < array.size(); ++e) array.Set(e, std::fabs(array.Get(e)));
}

}  // namespace

bool Differences::MakeGradients() {
  std::vector<ArrayLists> all;
  for (int k = 0; k < (few_ ? 1 : kCotangents); ++k) {
    ArrayLists cotangents = trial_.MakeCotangents(&random_);
    if (few_) MakePositive(&cotangents);
    LeaveOutNonFinite(trial_.outputs, &cotangents);
    cotangents_.push_back(FlatFloats(cotangents));
    gradients_.push_back(trial_.MakeGradients());
    const Status status = trial_.Backward(cotangents, gradients_.back());
    if (!status.ok()) {
      recorder_.Add("CK013", Severity::kError, "",
                    StrCat("the backward call fails for other gradients of the outputs: ",
                           status.error().message));
      return false;
    }
    all.push_back(std::move(cotangents));
  }
  // Only now: a backward call that uses what the last forward call left behind would be right after
  // these.
  own_ = MeasureOwnValues(trial_, &random_);
  for (const ArrayLists& cotangents : all)
    noise_.push_back(GradientNoise(&own_, cotangents, &random_));
  return true;
}

void Differences::Run() {
  recorder_.Stage("differences of the forward call");
  if (!MakeGradients()) return;
  for (const Wanted& w : wanted_)
    numeric_.emplace_back(&trial_, w, cotangents_, own_, few_, &random_);
  const auto has_infinite = [](const Array& array) {
    for (int64_t k = 0; k < array.size(); ++k)
      if (std::isinf(array.Get(k))) return true;
    return false;
  };
  const bool masked = std::any_of(wanted_.begin(), wanted_.end(), [&](const Wanted& w) {
    return has_infinite(At(trial_.inputs, w));
  });
  for (size_t i = 0; i < wanted_.size(); ++i) {
    // What is due to another input beside an infinity is often not finite: -y / (x x + y y).
    if (masked && !has_infinite(At(trial_.inputs, wanted_[i]))) continue;
    Refine(i);
    for (size_t k = 0; k < cotangents_.size(); ++k) CompareRow(i, k);
  }
}

double Differences::ScaleOf(size_t wanted, size_t cotangent) const {
  double scale = 0;
  for (const Slope& slope : numeric_[wanted].slopes[cotangent])
    if (slope.smooth) scale = std::max(scale, std::fabs(slope.value));
  return scale;
}

// Outputs that are zero for all values, as the loss of one class, are a difference of equal terms.
// So is their gradient, which has no size of its own: its terms are as large as the gradients of
// the outputs and the inputs. Other outputs, without a gradient, do not matter.
double Differences::FloorOf(size_t cotangent) const {
  double size = 0;
  for (size_t j = 0; j < own_.size.size(); ++j) {
    const double c = cotangents_[cotangent][j];
    if (c != 0 && own_.size[j] != 0) return 0;
    size = std::max(size, std::fabs(c));
  }
  double largest = 1;
  for (const auto& list : trial_.inputs)
    for (const Array& array : list)
      if (IsFloat(array.dtype)) largest = std::max(largest, array.Largest());
  return std::min(kCancelled * own_.epsilon, RelativeTolerance(trial_.LeastFloat())) * size *
         largest;
}

// What the last place of an output hides at steps of one, as a weight of a softmax that is nearly
// zero.
double Differences::HiddenOf(size_t cotangent) const {
  double hidden = 0;
  for (size_t j = 0; j < own_.noise.size(); ++j)
    if (std::isfinite(own_.noise[j]))
      hidden = std::max(hidden, std::fabs(cotangents_[cotangent][j]) * own_.noise[j]);
  return hidden;
}

Measure Differences::MeasureOf(size_t wanted, size_t cotangent) const {
  return {ScaleOf(wanted, cotangent), 0, FloorOf(cotangent), HiddenOf(cotangent),
          trial_.LeastFloat()};
}

Judgement Differences::JudgeElement(size_t wanted, size_t cotangent, size_t k,
                                    Measure measure) const {
  const int64_t element = numeric_[wanted].elements[k];
  const auto& noise = noise_[cotangent];
  if (!noise.empty()) measure.noise = noise[wanted][static_cast<size_t>(element)];
  return Judge(numeric_[wanted].slopes[cotangent][k],
               At(gradients_[cotangent], wanted_[wanted]).Get(element), measure);
}

void Differences::Refine(size_t wanted) {
  std::vector<Measure> measures;
  for (size_t c = 0; c < cotangents_.size(); ++c) measures.push_back(MeasureOf(wanted, c));
  for (size_t k = 0; k < numeric_[wanted].elements.size(); ++k) {
    bool convincing = true;
    for (size_t c = 0; c < cotangents_.size() && convincing; ++c) {
      const Judgement judged = JudgeElement(wanted, c, k, measures[c]);
      convincing = judged.right() && judged.fine();
    }
    if (!convincing) numeric_[wanted].Refine(k);
  }
}

void Differences::CompareRow(size_t wanted, size_t cotangent) {
  RowRecord* const row = recorder_.Row(wanted_[wanted].row);
  if (row == nullptr) return;
  if (row->used == 0) {
    row->used = 1;
    row->right = 1;
  }
  const Numeric& n = numeric_[wanted];
  const Array& gradient = At(gradients_[cotangent], wanted_[wanted]);
  if (!n.whole && !few_) {
    row->sampled = static_cast<int64_t>(n.elements.size());
    row->sampled_of = gradient.size();
  }
  const Measure measure = MeasureOf(wanted, cotangent);
  const bool finite = std::all_of(own_.values.begin(), own_.values.end(),
                                  [](double v) { return std::isfinite(v); });
  bool wrong = false;
  CommonFactor factor(trial_.LeastFloat());
  Difference clearest;
  for (size_t k = 0; k < n.elements.size(); ++k) {
    const double got = gradient.Get(n.elements[k]);
    const Judgement judged = JudgeElement(wanted, cotangent, k, measure);
    // What is not finite may come from an output that is not, times zero.
    if (!judged.decided || (!std::isfinite(got) && !finite)) {
      ++row->skipped;
      continue;
    }
    ++row->elements;
    const Difference difference = {judged.error, judged.tolerance, got, judged.expected,
                                   IndexText(gradient.shape, n.elements[k])};
    wrong = wrong || !judged.right();
    if (judged.right() && std::isfinite(got) && n.slopes[cotangent][k].smooth) {
      if (factor.applies()) factor.Add(got, judged, n.RoundingOf(k, cotangent));
      if (std::fabs(judged.expected) > std::fabs(clearest.expected)) clearest = difference;
    }
    if (SaysMore(difference, FromRecord(row->worst))) row->worst = ToRecord(difference);
  }
  // Of few elements it is luck.
  if (!wrong && !few_ && factor.wrong()) {
    wrong = true;
    clearest.tolerance = factor.allowed() * std::fabs(clearest.expected);
    clearest.error = std::fabs(factor.value() - 1) * std::fabs(clearest.expected);
    row->worst = ToRecord(clearest);
    row->kind = StrCat("missing factor: the elements together are ", FactorText(factor.value()),
                       " times what is right")
                    .c_str();
  }
  if (!wrong) return;
  row->right = 0;
  if (row->kind.chars[0] == 0 && n.whole) row->kind = KindOf(wanted, cotangent).c_str();
}

std::string Differences::KindOf(size_t wanted, size_t cotangent) const {
  Suspect suspect;
  const Numeric& n = numeric_[wanted];
  const Array& gradient = At(gradients_[cotangent], wanted_[wanted]);
  suspect.shape = gradient.shape;
  suspect.input = FlatFloats({{At(trial_.inputs, wanted_[wanted])}});
  suspect.tolerance = std::max(1e-5, 3 * RelativeTolerance(trial_.LeastFloat()));
  suspect.cotangent = cotangents_[cotangent];
  suspect.jacobian = &n.jacobian;
  for (size_t k = 0; k < n.elements.size(); ++k) {
    const Slope& slope = n.slopes[cotangent][k];
    suspect.got.push_back(gradient.Get(n.elements[k]));
    suspect.expected.push_back(slope.smooth ? slope.value : suspect.got.back());
  }
  for (size_t i = 0; i < wanted_.size(); ++i) {
    if (i == wanted || !numeric_[i].whole) continue;
    Named other{trial_.NameOf(wanted_[i]), {}};
    for (const Slope& slope : numeric_[i].slopes[cotangent]) other.values.push_back(slope.value);
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

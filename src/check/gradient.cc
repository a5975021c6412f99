// SPDX-License-Identifier: Apache-2.0
#include "check/gradient.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <utility>

#include "base/text.h"
#include "check/contract.h"
#include "check/own_values.h"

namespace opwright::check {
namespace {

// How many times what the last places of the inputs move a gradient may be off.
constexpr double kNoise = 4;
// Of the smallest normal number: what a step of small gradients can be told of.
constexpr double kLeastScaled = 0x1p60;

// What another order of the same sum, or another expression for the same number, may change.
double Rounding(const Array& expected, const ArrayLists& cotangents) {
  double terms = 0;
  for (const auto& list : cotangents)
    for (const Array& array : list) terms += static_cast<double>(array.size());
  terms /= std::max(1.0, static_cast<double>(expected.size()));
  return Epsilon(expected.dtype) * (16 + 4 * std::sqrt(terms)) * expected.Largest() +
         4 * SmallestPositive(expected.dtype);
}

// Times a power of two, which rounds nothing that stays in the dtype's range.
void Scale(ArrayLists* lists, int exponent) {
  for (auto& list : *lists)
    for (Array& array : list)
      for (int64_t k = 0; k < array.size(); ++k) array.Set(k, std::ldexp(array.Get(k), exponent));
}

void AddOperands(const OpwrightParamDef* const* params, ArrayLists* lists, const std::string& what,
                 Access access, std::vector<Operand>* operands) {
  for (size_t i = 0; i < lists->size(); ++i)
    for (size_t k = 0; k < (*lists)[i].size(); ++k)
      operands->push_back({StrCat(what, " ", ItemName(*params[i], k)), access, &(*lists)[i][k]});
}

}  // namespace

GradientCheck::GradientCheck(Trial* trial, Recorder* recorder, uint64_t seed)
    : trial_(*trial), recorder_(*recorder), random_(seed), wanted_(trial->wanted()) {
  cotangents_ = trial_.MakeCotangents(&random_);
  gradients_ = trial_.MakeGradients();
}

// What a forward call saved, such as a permutation, goes with its inputs only. Where it refuses
// them, all threads work on the same.
Bytes GradientCheck::OtherValues() {
  const auto move = [](ArrayLists* lists) {
    for (auto& list : *lists)
      for (Array& array : list) MoveByOne(&array);
  };
  Trial other = trial_;
  move(&other.inputs);
  const Trial& from = trial_.def().num_mutates == 0 && other.Forward().ok() ? other : trial_;
  ArrayLists cotangents = cotangents_;
  move(&cotangents);
  Bytes bytes;
  for (const ArrayLists* lists : {&from.inputs, &from.outputs, &std::as_const(cotangents)})
    for (const auto& list : *lists)
      for (const Array& array : list) bytes.push_back(array.bytes);
  bytes.resize(bytes.size() + static_cast<size_t>(Total(CountsOf(gradients_))));
  return bytes;
}

bool GradientCheck::Contract() {
  std::vector<Operand> operands;
  const OpwrightOpDef& def = trial_.def();
  AddOperands(def.inputs, &trial_.inputs, "input", Access::kRead, &operands);
  AddOperands(def.outputs, &trial_.outputs, "output", Access::kRead, &operands);
  AddOperands(def.outputs, &cotangents_, "gradient of output", Access::kRead, &operands);
  AddOperands(def.inputs, &gradients_, "gradient of input", Access::kWrite, &operands);
  check::Contract contract(
      &recorder_, trial_.op().backward()->name(), "backward", std::move(operands),
      [this](OpwrightTensor* tensors) {
        return trial_.Backward(tensors, CountsOf(cotangents_), CountsOf(gradients_));
      },
      [this] { return OtherValues(); });
  const Status status = contract.Run();
  if (status.ok()) return true;
  const bool threw = status.error().id == "CL012";
  if (!threw && CountElements(trial_.outputs) == 0) {
    // The forward kernel was not called: it might have refused what this one refuses.
    recorder_.Refuse(status.error().message);
    return false;
  }
  recorder_.Add(threw ? "CK005" : "CK013", Severity::kError, "",
                StrCat(threw ? "the backward kernel threw: "
                             : "the backward call failed for inputs that the forward call takes: ",
                       status.error().message));
  return false;
}

// Only where it is asked for: it takes many calls.
double GradientCheck::NoiseOf(size_t wanted, int64_t element) {
  if (!noise_.has_value()) {
    OwnValues own = MeasureOwnValues(trial_, &random_);
    noise_ = GradientNoise(&own, cotangents_, &random_);
  }
  return noise_->empty() ? 0 : (*noise_)[wanted][static_cast<size_t>(element)];
}

void GradientCheck::ExpectSame(const ArrayLists& got, const ArrayLists& expected, const char* id,
                               const std::string& why, const std::string& kind, bool noisy,
                               double relative) {
  for (size_t i = 0; i < wanted_.size(); ++i) {
    const Wanted& w = wanted_[i];
    if (got[static_cast<size_t>(w.input)].empty()) continue;
    const Array& a = At(got, w);
    const Array& b = At(expected, w);
    const double rounding = Rounding(b, cotangents_) + relative * b.Largest();
    for (int64_t k = 0; k < a.size(); ++k) {
      // Zero times infinity is none where a term is left out.
      if (!std::isfinite(b.Get(k))) continue;
      const double error = std::isfinite(a.Get(k)) ? std::fabs(a.Get(k) - b.Get(k)) : INFINITY;
      if (error <= rounding) continue;
      const double tolerance = rounding + (noisy ? kNoise * NoiseOf(i, k) : 0);
      if (error <= tolerance) continue;
      const Difference difference = {error, tolerance, a.Get(k), b.Get(k), IndexText(a.shape, k)};
      recorder_.Add(id, Severity::kError, StrCat("gradient of input ", trial_.NameOf(w)), why, kind,
                    &difference);
      break;
    }
  }
}

bool GradientCheck::Failed(const Status& status, const char* id, const std::string& when) {
  if (status.ok()) return false;
  recorder_.Add(id, Severity::kError, "",
                StrCat("the backward call fails ", when, ": ", status.error().message));
  return true;
}

void GradientCheck::Invariance() {
  if (recorder_.Has("CK009") || recorder_.Has("CK006") || recorder_.Has("CK007")) return;
  Alone();
  Unused();
  Layouts();
  Scales();
}

void GradientCheck::Alone() {
  int32_t before = -1;
  for (const Wanted& w : wanted_) {
    if (w.input == before || wanted_.size() < 2) continue;
    before = w.input;
    const std::string name = trial_.def().inputs[w.input]->name;
    recorder_.Stage(StrCat("backward, with only the gradient of ", name, " wanted"));
    ArrayLists alone(gradients_.size());
    alone[static_cast<size_t>(w.input)] = gradients_[static_cast<size_t>(w.input)];
    for (Array& array : alone[static_cast<size_t>(w.input)])
      std::fill(array.bytes.begin(), array.bytes.end(), char(0x5A));
    if (Status status = trial_.Backward(cotangents_, alone); !status.ok()) {
      recorder_.Add("CK014", Severity::kError, StrCat("gradient of input ", name),
                    StrCat("the backward call fails when only the gradient of ", name,
                           " is wanted: ", status.error().message));
      continue;
    }
    ExpectSame(
        alone, gradients_, "CK014",
        StrCat("the gradient of ", name, " changes when the other inputs need none (are frozen)"),
        "");
  }
}

void GradientCheck::Unused() {
  int64_t floats = 0;
  for (const auto& list : cotangents_) floats += !list.empty();
  if (floats < 2) return;
  for (size_t used = 0; used < cotangents_.size(); ++used) {
    if (cotangents_[used].empty()) continue;
    const std::string name = trial_.def().outputs[used]->name;
    recorder_.Stage(StrCat("backward, with only output ", name, " used"));
    ArrayLists absent(cotangents_.size());
    absent[used] = cotangents_[used];
    ArrayLists zeros = cotangents_;
    for (size_t o = 0; o < zeros.size(); ++o)
      for (Array& array : zeros[o])
        if (o != used) std::fill(array.bytes.begin(), array.bytes.end(), 0);
    ArrayLists got = trial_.MakeGradients();
    ArrayLists expected = trial_.MakeGradients();
    if (Status status = trial_.Backward(absent, got); !status.ok()) {
      recorder_.Add("CK014", Severity::kError, "",
                    StrCat("the backward call fails when only output ", name,
                           " is used: ", status.error().message));
      continue;
    }
    if (Failed(trial_.Backward(zeros, expected), "CK013",
               StrCat("with zeros for the gradients of all outputs but ", name)))
      continue;
    ExpectSame(
        got, expected, "CK014",
        StrCat("with only output ", name,
               " used, absent gradients of the other outputs give another result than zeros"),
        "an unused output is not treated as zero");
  }
}

// A cotangent that is expanded (all strides zero) or transposed is the same numbers.
void GradientCheck::Layouts() {
  recorder_.Stage("backward, with gradients of outputs that are not dense");
  for (const bool expanded : {true, false}) {
    ArrayLists dense = cotangents_;
    ArrayLists other = cotangents_;
    std::vector<OpwrightTensor> tensors;
    std::vector<Shape> strides;
    for (auto* lists : {&dense, &other})
      for (auto& list : *lists)
        for (Array& array : list)
          for (int64_t k = 0; expanded && k < array.size(); ++k) array.Set(k, array.Get(0));
    for (auto& list : other) {
      for (Array& array : list) {
        Shape steps(array.shape.size(), 0);
        // The numbers in column-major order.
        int64_t step = 1;
        for (size_t d = 0; d < steps.size() && !expanded; ++d) {
          steps[d] = step;
          step *= array.shape[d];
        }
        const Array row_major = array;
        for (int64_t k = 0; k < array.size() && !expanded; ++k) {
          int64_t rest = k;
          int64_t place = 0;
          for (size_t d = steps.size(); d-- > 0; rest /= array.shape[d])
            place += rest % array.shape[d] * steps[d];
          array.Set(place, row_major.Get(k));
        }
        strides.push_back(std::move(steps));
      }
    }
    ArrayLists got = trial_.MakeGradients();
    ArrayLists expected = trial_.MakeGradients();
    AppendTensors(trial_.inputs, &tensors);
    AppendTensors(trial_.outputs, &tensors);
    size_t at = tensors.size();
    AppendTensors(other, &tensors);
    for (Shape& steps : strides) tensors[at++].strides = steps.data();
    AppendTensors(got, &tensors);
    if (Failed(trial_.Backward(dense, expected), "CK013", "for other gradients of the outputs"))
      continue;
    if (Failed(trial_.Backward(tensors.data(), CountsOf(other), CountsOf(got)), "CK015",
               StrCat("for an output's gradient that is ",
                      expanded ? "expanded (strides 0)" : "transposed in memory",
                      ", and takes the same numbers dense")))
      continue;
    ExpectSame(got, expected, "CK015",
               StrCat("an output's gradient that is ",
                      expanded ? "expanded (strides 0)" : "transposed in memory",
                      " gives another result than the same numbers dense"),
               "strides of the output's gradient ignored");
  }
}

// A gradient is linear in those of the outputs: the small ones of a mean, the large ones of a
// scaled loss.
void GradientCheck::Scales() {
  // Narrower floats may leave their range.
  if (IsNarrow(trial_.LeastFloat())) return;
  recorder_.Stage("backward, with small and with large gradients of outputs");
  for (const int exponent : {-20, 16}) {
    ArrayLists cotangents = cotangents_;
    Scale(&cotangents, exponent);
    ArrayLists got = trial_.MakeGradients();
    if (Failed(trial_.Backward(cotangents, got), "CK013", "for other gradients of the outputs"))
      continue;
    Scale(&got, -exponent);
    // What leaves the dtype's range on the way says nothing.
    for (const Wanted& w : wanted_) {
      Array& array = At(got, w);
      for (int64_t k = 0; k < array.size(); ++k) {
        const double before = At(gradients_, w).Get(k);
        const bool left = exponent > 0 ? !std::isfinite(array.Get(k))
                                       : std::fabs(before) < kLeastScaled * FLT_MIN;
        if (left) array.Set(k, before);
      }
    }
    // An implicit gradient is iterated until its steps are below an absolute tolerance.
    ExpectSame(got, gradients_, "CK023",
               StrCat("with the gradients of the outputs times 2^", exponent, " it is not 2^",
                      exponent, " times what it was"),
               "a threshold, a limit or an epsilon that does not grow with them", false,
               8 * std::sqrt(Epsilon(trial_.LeastFloat())));
  }
}

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// The gradients of one case against central differences of the forward call.
#pragma once

#include <string>
#include <vector>

#include "check/judgement.h"
#include "check/numeric.h"
#include "check/record.h"
#include "check/trial.h"

namespace opwright::check {

// trial: its outputs are those of the forward call.
class Differences {
 public:
  // few: of a few elements, for one cotangent, which is positive.
  Differences(Trial* trial, Recorder* recorder, bool few, uint64_t seed)
      : trial_(*trial), recorder_(*recorder), few_(few), random_(seed), wanted_(trial->wanted()) {}

  // Else for several cotangents.
  void Run();

 private:
  // False: the backward call failed.
  bool MakeGradients();
  double ScaleOf(size_t wanted, size_t cotangent) const;
  double FloorOf(size_t cotangent) const;
  double HiddenOf(size_t cotangent) const;
  // But for the noise, which each element has its own of.
  Measure MeasureOf(size_t wanted, size_t cotangent) const;
  Judgement JudgeElement(size_t wanted, size_t cotangent, size_t k, Measure measure) const;
  // More steps where one does not convince.
  void Refine(size_t wanted);
  // One input's gradients for one cotangent against its slopes.
  void CompareRow(size_t wanted, size_t cotangent);
  std::string KindOf(size_t wanted, size_t cotangent) const;

  Trial& trial_;
  Recorder& recorder_;
  const bool few_;
  Random random_;
  std::vector<Wanted> wanted_;
  OwnValues own_;
  std::vector<std::vector<double>> cotangents_;
  std::vector<ArrayLists> gradients_;  // [cotangent]
  std::vector<std::vector<std::vector<double>>> noise_;  // [cotangent][wanted][element]
  std::vector<Numeric> numeric_;  // [wanted]
};

}  // namespace opwright::check

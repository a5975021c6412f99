// SPDX-License-Identifier: Apache-2.0
//
// The backward call of one case: its own contract, and what it may not depend on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "check/operands.h"
#include "check/record.h"
#include "check/trial.h"

namespace opwright::check {

// trial: its outputs are those of the forward call.
class GradientCheck {
 public:
  GradientCheck(Trial* trial, Recorder* recorder, uint64_t seed);

  // The memory contract of the backward call. False: it failed, and nothing else can be tried.
  bool Contract();
  // Results that must not depend on which other gradients are wanted, on unused outputs given as
  // absent or as zeros, on the layout of the cotangents or, but for their own scale, on theirs.
  void Invariance();

 private:
  // Inputs in another order, with the outputs that the forward call makes of them.
  Bytes OtherValues();
  void Alone();
  void Unused();
  void Layouts();
  void Scales();
  // Adds a finding if the backward call failed; `when` says for what.
  bool Failed(const Status& status, const char* id, const std::string& when);
  // How far rounding takes an element of a gradient.
  double NoiseOf(size_t wanted, int64_t element);
  // But for rounding; noisy: and for what it does to the terms of either. relative: to the largest.
  void ExpectSame(const ArrayLists& got, const ArrayLists& expected, const char* id,
                  const std::string& why, const std::string& kind, bool noisy = true,
                  double relative = 0);

  Trial& trial_;
  Recorder& recorder_;
  Random random_;
  std::vector<Wanted> wanted_;
  ArrayLists cotangents_;  // of the contract
  ArrayLists gradients_;  // its results
  std::optional<std::vector<std::vector<double>>> noise_;
};

}  // namespace opwright::check

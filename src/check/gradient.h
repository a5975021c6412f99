// SPDX-License-Identifier: Apache-2.0
//
// The backward call of one case: its own contract, and what it may not depend on.
#pragma once

#include <string>
#include <vector>

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
  // absent or as zeros, or on the layout of the cotangents.
  void Invariance();

 private:
  void Alone();
  void Unused();
  void Layouts();
  // Adds a finding if the backward call failed; `when` says for what.
  bool Failed(const Status& status, const char* id, const std::string& when);
  void ExpectSame(const ArrayLists& got, const ArrayLists& expected, const char* id,
                  const std::string& why, const std::string& kind);

  Trial& trial_;
  Recorder& recorder_;
  Random random_;
  std::vector<Wanted> wanted_;
  ArrayLists cotangents_;  // of the contract
  ArrayLists gradients_;  // its results
};

}  // namespace opwright::check

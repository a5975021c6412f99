// SPDX-License-Identifier: Apache-2.0
//
// The gradients of one case against central differences of the forward call.
#pragma once

#include <string>
#include <vector>

#include "check/numeric.h"
#include "check/record.h"
#include "check/trial.h"

namespace opwright::check {

// trial: its outputs are those of the forward call.
class Differences {
 public:
  Differences(Trial* trial, Recorder* recorder, uint64_t seed)
      : trial_(*trial), recorder_(*recorder), random_(seed), wanted_(trial->wanted()) {}

  // For several cotangents.
  void Run();

 private:
  // One input's gradients for one cotangent against its slopes.
  void CompareRow(size_t wanted, const std::vector<Numeric>& numeric, size_t cotangent,
                  const Array& gradient, const std::vector<double>& flat_cotangent);
  std::string KindOf(size_t wanted, const std::vector<Numeric>& numeric, size_t cotangent,
                     const Array& gradient, const std::vector<double>& flat_cotangent) const;

  Trial& trial_;
  Recorder& recorder_;
  Random random_;
  std::vector<Wanted> wanted_;
};

}  // namespace opwright::check

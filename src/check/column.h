// SPDX-License-Identifier: Apache-2.0
//
// One dtype column against another: the same values must give the same results, as far as the less
// precise of the two can tell them apart.
#pragma once

#include <string>
#include <vector>

#include "check/record.h"
#include "check/trial.h"

namespace opwright::check {

class ColumnCheck {
 public:
  // trial: its outputs are those of the forward call.
  ColumnCheck(Trial* trial, Recorder* recorder, uint64_t seed)
      : trial_(*trial), recorder_(*recorder), random_(seed) {}

  // Outputs, and gradients if asked for, against those of another column; nothing where the columns
  // differ in more than precision, as float and int do.
  void Against(int32_t column, bool gradients);

 private:
  void CompareOutputs(const Trial& own, const Trial& other);
  void CompareGradients(Trial* own, Trial* other);
  void Compare(const Array& got, const Array& expected, const std::vector<double>& spread,
               double terms, const std::string& argument);
  // Moves values by what the less precise column cannot tell apart.
  void Nudge(ArrayLists* lists);

  Trial& trial_;
  Recorder& recorder_;
  Random random_;
  double epsilon_ = 0;  // of the less precise column
  std::string reference_;
  // The other column's, with values that were nudged. How far its results go shows how far rounding
  // takes those of an ill-conditioned operator.
  std::vector<Trial> moved_;
};

}  // namespace opwright::check

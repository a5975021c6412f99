// SPDX-License-Identifier: Apache-2.0
//
// What the cases of one operator said, put together: findings and how many cases show each, the
// rows of its gradients, the verdict.
#pragma once

#include <string>
#include <vector>

#include "check/check.h"
#include "check/record.h"

namespace opwright::check {

class Tally {
 public:
  OperatorReport report;
  bool undecided = false;  // for a reason that no row tells
  int64_t judged = 0;  // cases in which a kernel was called

  // After the rows are there, before the first case.
  void Begin() { attr_effects_.resize(report.rows.size()); }
  // text: the case in words.
  void Take(const CaseRecord& record, const std::string& text);
  // One more case of a finding that is there already, or a new one.
  void AddFinding(Finding finding);
  // After the last case.
  void Judge();

 private:
  // Whether a gradient was right and wrong without and with second values of attributes.
  struct AttrEffect {
    bool right_without = false;
    bool wrong_without = false;
    std::string wrong_with;
  };

  static void TakeWorst(const RowRecord& from, const std::string& text, GradientRow* row);
  static void CompleteKind(const AttrEffect& effect, std::string* kind);
  void NoteLeftOut(const GradientRow& row);
  void DropUnwrittenOfAddedTo();
  void NothingRan();

  std::vector<AttrEffect> attr_effects_;  // of each row
};

}  // namespace opwright::check

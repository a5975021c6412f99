// SPDX-License-Identifier: Apache-2.0
//
// What the cases of one operator said, put together: findings and how many cases show each, the
// rows of its gradients, the verdict.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "check/attr_coverage.h"
#include "check/attrs.h"
#include "check/cases.h"
#include "check/record.h"
#include "check/report.h"

namespace opwright::check {

class Tally {
 public:
  OperatorReport report;
  bool undecided = false;  // for a reason that no row tells
  int64_t judged = 0;  // cases in which a kernel was called
  bool fits_other_shapes = false;  // than its metadef says: those that it takes were found
  AttrCoverage attrs;

  // After the rows are there, before the first case.
  void Begin() {
    attr_effects_.resize(report.rows.size());
    skipped_uncounted_.resize(report.rows.size());
  }
  // text: the case in words.
  void Take(const CaseRecord& record, const Case& c, const std::string& text);
  // Of a case that there was no time for, which is tried again smaller: what is wrong in it stays
  // wrong, and the case is counted there.
  void TakeUnfinished(const CaseRecord& record, const Case& c, const std::string& text);
  // As many more cases of a finding that is there already, or a new one.
  void AddFinding(Finding finding);
  bool HasFound(std::string_view id) const;
  // After the last case.
  void Judge(const OpwrightOpDef& def);

 private:
  using Shapes = std::vector<std::vector<Shape>>;
  // Where a gradient was right without second values of attributes, and wrong without and with
  // them.
  struct AttrEffect {
    std::set<Shapes> right_without;
    bool wrong_without = false;
    std::set<Shapes> wrong_at;
    // The second values that each wrong case had.
    SecondValues wrong_with = {~uint64_t{0}, false};
  };

  void TakeFindings(const CaseRecord& record, const std::string& text, int64_t cases);
  void TakeRow(size_t r, const CaseRecord& record, const Case& c, const std::string& text);
  void JudgeRow(size_t r, const CaseRecord& record, const Case& c, const std::string& text);
  static void TakeWorst(const RowRecord& from, const std::string& text, GradientRow* row);
  static void CompleteKind(const OpwrightOpDef& def, const AttrEffect& effect, std::string* kind);
  void NoteLeftOut(const GradientRow& row);
  void NoteRefused();
  void DropUnwrittenOfAddedTo();
  void NothingRan(const OpwrightOpDef& def);

  std::vector<AttrEffect> attr_effects_;  // of each row
  std::vector<int64_t> skipped_uncounted_;  // of each row
};

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
#include "check/report.h"

#include <utility>

namespace opwright::check {

Finding Warning(std::string id, std::string message) {
  Finding finding;
  finding.id = std::move(id);
  finding.severity = Severity::kWarning;
  finding.message = std::move(message);
  return finding;
}

Verdict Report::verdict() const {
  for (const Finding& finding : findings)
    if (finding.severity == Severity::kError) return Verdict::kWrong;
  Verdict verdict = operators.empty() ? Verdict::kUndecided : Verdict::kRight;
  for (const OperatorReport& op : operators) {
    if (op.verdict == Verdict::kWrong) return Verdict::kWrong;
    if (op.verdict == Verdict::kUndecided) verdict = Verdict::kUndecided;
  }
  return verdict;
}

const char* VerdictName(Verdict verdict) {
  return verdict == Verdict::kRight ? "right" : verdict == Verdict::kWrong ? "wrong" : "undecided";
}

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// The verdict for people: short when all is right, otherwise what is wrong, where, and what to do.
#include <set>

#include "base/ids.h"
#include "base/text.h"
#include "check/number_text.h"
#include "check/report.h"

namespace opwright::check {
namespace {

std::string DifferenceText(const Difference& d) {
  return StrCat("largest error ", ShortNumber(d.error), " (", ShortNumber(d.tolerance),
                " allowed) at ", d.index, ": got ", LongNumber(d.got), ", expected ",
                LongNumber(d.expected));
}

std::string RowText(const GradientRow& row) {
  if (!row.checked && row.right)
    return StrCat("  gradient of ", row.input, ": not checked: ", row.reason, "\n");
  std::string text = StrCat("  gradient of ", row.input, ": ", row.right ? "right" : "wrong");
  if (row.right) {
    text += StrCat(", ", Count(row.elements, "comparison"), " in ", row.dtype);
    if (row.worst.tolerance > 0)
      text += StrCat(", largest error ", ShortNumber(row.worst.error), " (",
                     ShortNumber(row.worst.tolerance), " allowed)");
    if (row.skipped > 0)
      text += StrCat(", ", row.skipped, " left out (", PercentText(row.left_out_share()),
                     ": not smooth there, or too noisy)");
    if (row.sampled_of > 0)
      text += StrCat(", of large inputs a sample (", row.sampled, " of ",
                     Count(row.sampled_of, "element"), ")");
    return text + "\n";
  }
  text += StrCat(" [CK012]\n    ", DifferenceText(row.worst), "\n    with ", row.case_text, "\n");
  if (!row.kind.empty()) text += StrCat("    likely: ", row.kind, "\n");
  return text;
}

std::string FindingText(const Finding& f) {
  std::string text = StrCat("  ", SeverityName(f.severity), ": ", f.message, " [", f.id, "]\n");
  if (f.has_difference) text += StrCat("    ", DifferenceText(f.difference), "\n");
  if (!f.case_text.empty())
    text += StrCat(
        "    with ", f.case_text,
        f.cases > 1 ? StrCat(", and in ", Count(f.cases - 1, "other case")) : std::string(), "\n");
  if (!f.kind.empty()) text += StrCat("    likely: ", f.kind, "\n");
  return text;
}

std::string CuresText(const std::set<std::string>& ids) {
  if (ids.empty()) return "";
  std::string text = "  what to do:\n";
  for (const std::string& id : ids)
    if (const ErrorId* row = FindErrorId(id)) text += StrCat("    ", id, ": ", row->cure, "\n");
  return text;
}

std::string OperatorText(const OperatorReport& op) {
  std::string text =
      StrCat(op.name, ": ", VerdictName(op.verdict), " (", Count(op.cases_run, "case"));
  if (op.cases_refused > 0) text += StrCat(", ", op.cases_refused, " refused");
  if (!op.backward.empty()) text += StrCat("; gradient by ", op.backward);
  text += ")\n";
  if (!op.note.empty()) text += StrCat("  ", op.note, "\n");
  std::set<std::string> ids;
  for (const GradientRow& row : op.rows) {
    text += RowText(row);
    if (!row.right) ids.insert("CK012");
  }
  for (const Finding& finding : op.findings) {
    text += FindingText(finding);
    ids.insert(finding.id);
  }
  // What an operator that is right refuses is no task, unless it is nearly all that was tried.
  const size_t shown = op.verdict == Verdict::kUndecided                        ? op.refusals.size()
                       : op.verdict == Verdict::kWrong || ids.contains("CK025") ? 2
                                                                                : 0;
  for (size_t k = 0; k < op.refusals.size() && k < shown; ++k)
    text += StrCat("  refused: ", op.refusals[k], "\n");
  return text + CuresText(ids);
}

std::string LibraryText(const std::vector<Finding>& findings) {
  std::string text;
  std::set<std::string> ids;
  for (const Finding& finding : findings) {
    text += FindingText(finding);
    ids.insert(finding.id);
  }
  return text + CuresText(ids);
}

}  // namespace

std::string RenderText(const Report& report) {
  std::string text;
  for (const Diagnostic& warning : report.warnings) text += Render(warning) + "\n";
  text += LibraryText(report.findings);
  for (const OperatorReport& op : report.operators) text += OperatorText(op);
  return text + StrCat(report.path, ": ", VerdictName(report.verdict()), ", ",
                       Count(static_cast<int64_t>(report.operators.size()), "operator"), ", seed ",
                       report.seed, "\n");
}

}  // namespace opwright::check

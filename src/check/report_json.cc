// SPDX-License-Identifier: Apache-2.0
//
// The verdict for programs. Numbers that JSON has no word for are strings: "nan", "inf", "-inf".
#include <cmath>

#include "base/ids.h"
#include "base/text.h"
#include "check/report.h"

namespace opwright::check {
namespace {

std::string Number(double value) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value > 0 ? "\"inf\"" : "\"-inf\"";
  return StrCat(value);
}

std::string List(const std::vector<std::string>& items) {
  return StrCat("[", Join(items, ", "), "]");
}

const char* Bool(bool value) { return value ? "true" : "false"; }

std::string DifferenceJson(const Difference& d) {
  return StrCat("{\"error\": ", Number(d.error), ", \"tolerance\": ", Number(d.tolerance),
                ", \"index\": ", JsonQuote(d.index), ", \"got\": ", Number(d.got),
                ", \"expected\": ", Number(d.expected), "}");
}

std::string RowJson(const GradientRow& row) {
  return StrCat(
      "{\"input\": ", JsonQuote(row.input), ", \"checked\": ", Bool(row.checked),
      ", \"right\": ", Bool(row.right), ", \"reason\": ", JsonQuote(row.reason),
      ", \"dtype\": ", JsonQuote(row.dtype), ", \"cases\": ", row.cases,
      ", \"comparisons\": ", row.elements, ", \"left_out\": ", row.skipped, ", \"sample\": ",
      row.sampled_of > 0 ? StrCat("{\"elements\": ", row.sampled, ", \"of\": ", row.sampled_of, "}")
                         : std::string("null"),
      ", \"worst\": ", row.worst.tolerance > 0 ? DifferenceJson(row.worst) : "null",
      ", \"case\": ", JsonQuote(row.case_text), ", \"kind\": ", JsonQuote(row.kind), "}");
}

std::string FindingJson(const Finding& f) {
  const ErrorId* id = FindErrorId(f.id);
  return StrCat("{\"id\": ", JsonQuote(f.id),
                ", \"severity\": ", JsonQuote(SeverityName(f.severity)),
                ", \"argument\": ", JsonQuote(f.argument), ", \"case\": ", JsonQuote(f.case_text),
                ", \"cases\": ", f.cases, ", \"message\": ", JsonQuote(f.message),
                ", \"kind\": ", JsonQuote(f.kind),
                ", \"difference\": ", f.has_difference ? DifferenceJson(f.difference) : "null",
                ", \"hint\": ", JsonQuote(id != nullptr ? id->cure : ""), "}");
}

std::string FindingsJson(const std::vector<Finding>& found) {
  std::vector<std::string> findings;
  for (const Finding& finding : found) findings.push_back("\n      " + FindingJson(finding));
  return List(findings);
}

std::string OperatorJson(const OperatorReport& op) {
  std::vector<std::string> rows;
  for (const GradientRow& row : op.rows) rows.push_back("\n      " + RowJson(row));
  std::vector<std::string> refusals;
  for (const std::string& reason : op.refusals) refusals.push_back("\n      " + JsonQuote(reason));
  return StrCat("\n    {\"name\": ", JsonQuote(op.name), ", \"verdict\": \"",
                VerdictName(op.verdict), "\", \"note\": ", JsonQuote(op.note),
                ", \"backward\": ", JsonQuote(op.backward), ", \"cases_run\": ", op.cases_run,
                ", \"cases_refused\": ", op.cases_refused, ",\n     \"refusals\": ", List(refusals),
                ",\n     \"gradients\": ", List(rows),
                ",\n     \"findings\": ", FindingsJson(op.findings), "}");
}

// A report, and what takes its place where nothing was checked, have the same members.
struct Members {
  const std::string& path;
  Verdict verdict;
  uint64_t seed;
  std::vector<std::string> errors;
  std::vector<std::string> warnings;
  std::string findings;
  std::vector<std::string> operators;
};

std::string Document(const Members& members) {
  return StrCat("{\n  \"path\": ", JsonQuote(members.path), ",\n  \"verdict\": \"",
                VerdictName(members.verdict), "\",\n  \"seed\": ", members.seed,
                ",\n  \"errors\": ", List(members.errors),
                ",\n  \"warnings\": ", List(members.warnings),
                ",\n  \"findings\": ", members.findings,
                ",\n  \"operators\": ", List(members.operators), "\n}\n");
}

}  // namespace

std::string RenderJson(const Report& report) {
  Members members{report.path, report.verdict(), report.seed, {}, {}, FindingsJson(report.findings),
                  {}};
  for (const OperatorReport& op : report.operators) members.operators.push_back(OperatorJson(op));
  for (const Diagnostic& warning : report.warnings)
    members.warnings.push_back(DiagnosticJson(warning));
  return Document(members);
}

std::string RenderJson(const std::string& path, uint64_t seed, const Error& error) {
  const Diagnostic whole = {error.id, Severity::kError, path, 0, 0, 0, error.message, ""};
  Members members{path, Verdict::kUndecided, seed, {DiagnosticJson(whole)},
                  {},   FindingsJson({}),    {}};
  for (const Diagnostic& d : error.diagnostics)
    (d.severity == Severity::kWarning ? members.warnings : members.errors)
        .push_back(DiagnosticJson(d));
  return Document(members);
}

}  // namespace opwright::check

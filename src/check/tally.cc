// SPDX-License-Identifier: Apache-2.0
#include "check/tally.h"

#include <algorithm>

#include "base/text.h"
#include "check/number_text.h"

namespace opwright::check {
namespace {

// Shares of a gradient's elements that were left out: more is told, and leaves it undecided.
constexpr double kMuch = 0.25;
constexpr double kNearlyAll = 0.9;

// Where no more calls than one in so many were taken, it is told.
constexpr int64_t kFew = 8;

}  // namespace

void Tally::AddFinding(Finding finding) {
  for (Finding& other : report.findings) {
    if (other.id != finding.id || other.argument != finding.argument) continue;
    other.cases += finding.cases;
    return;
  }
  report.findings.push_back(std::move(finding));
}

bool Tally::HasFound(std::string_view id) const {
  return std::any_of(report.findings.begin(), report.findings.end(),
                     [&](const Finding& finding) { return finding.id == id; });
}

void Tally::TakeFindings(const CaseRecord& record, const std::string& text, int64_t cases) {
  for (int32_t k = 0; k < record.num_findings; ++k) {
    const FindingRecord& from = record.findings[k];
    Finding finding;
    finding.id = from.id.chars;
    finding.severity = static_cast<Severity>(from.severity);
    finding.argument = from.argument.chars;
    finding.case_text = text;
    finding.cases = cases;
    finding.message = from.message.chars;
    finding.kind = from.kind.chars;
    finding.has_difference = from.has_difference != 0;
    finding.difference = FromRecord(from.difference);
    AddFinding(std::move(finding));
  }
}

void Tally::Take(const CaseRecord& record, const Case& c, const std::string& text) {
  TakeFindings(record, text, 1);
  for (size_t r = 0; r < report.rows.size() && r < CaseRecord::kRows; ++r)
    if (record.rows[r].used != 0) TakeRow(r, record, c, text);
}

void Tally::TakeUnfinished(const CaseRecord& record, const Case& c, const std::string& text) {
  TakeFindings(record, text, 0);
  for (size_t r = 0; r < report.rows.size() && r < CaseRecord::kRows; ++r)
    if (record.rows[r].used != 0 && record.rows[r].right == 0) JudgeRow(r, record, c, text);
}

void Tally::TakeRow(size_t r, const CaseRecord& record, const Case& c, const std::string& text) {
  const RowRecord& from = record.rows[r];
  GradientRow& row = report.rows[r];
  ++row.cases;
  row.elements += from.elements;
  (c.counts_left_out() ? row.skipped : skipped_uncounted_[r]) += from.skipped;
  if (from.sampled_of > row.sampled_of) {
    row.sampled = from.sampled;
    row.sampled_of = from.sampled_of;
  }
  row.checked = row.checked || (from.elements > 0 && !c.slight);
  JudgeRow(r, record, c, text);
}

void Tally::JudgeRow(size_t r, const CaseRecord& record, const Case& c, const std::string& text) {
  const RowRecord& from = record.rows[r];
  const bool standard = record.second_values.chars[0] == 0;
  AttrEffect& effect = attr_effects_[r];
  if (from.right != 0) {
    if (standard && from.elements > 0 && !c.slight) effect.right_without.insert(c.shapes);
  } else if (standard) {
    effect.wrong_without = true;
  } else {
    effect.wrong_at.insert(c.shapes);
    effect.wrong_with = {effect.wrong_with.which & record.second.which, record.second.middle};
  }
  if (from.worst.tolerance > 0) TakeWorst(from, text, &report.rows[r]);
}

void Tally::TakeWorst(const RowRecord& from, const std::string& text, GradientRow* row) {
  const bool is_wrong = from.right == 0;
  const Difference worst = FromRecord(from.worst);
  // A case whose kind is known says more than a larger error without one.
  const bool worse = SaysMore(worst, row->worst);
  const bool says_more = is_wrong && row->kind.empty() && from.kind.chars[0] != 0;
  const bool says_less = is_wrong && !row->kind.empty() && from.kind.chars[0] == 0;
  if ((worse && !says_less && (is_wrong || row->right)) || says_more) {
    row->worst = worst;
    row->case_text = text;
    if (is_wrong) row->kind = from.kind.chars;
  }
  row->right = row->right && !is_wrong;
}

void Tally::NothingRan(const OpwrightOpDef& def) {
  undecided = true;
  if (HasFound("CK018")) return;
  if (report.cases_refused == 0) {
    report.findings.push_back(
        Warning("CK018", StrCat("no call of ", report.name, " had an output with elements")));
    return;
  }
  const bool has_required =
      std::any_of(def.attrs, def.attrs + def.num_attrs,
                  [](const OpwrightAttrDef* attr) { return attr->required != 0; });
  report.findings.push_back(Warning(
      "CK018",
      StrCat(report.name, " accepted none of the ", Count(report.cases_refused, "call"),
             " that it was tried with",
             report.refusals.empty() ? std::string()
                                     : StrCat("; the first was refused with: ", report.refusals[0]),
             has_required ? "; required attributes are tried with harmless values: a default "
                            "that works would be tried instead"
                          : "")));
}

// The attributes' part in a wrong gradient; a kind where no other is known.
void Tally::CompleteKind(const OpwrightOpDef& def, const AttrEffect& effect, std::string* kind) {
  // What other shapes show may be theirs.
  const bool same_shapes =
      std::any_of(effect.wrong_at.begin(), effect.wrong_at.end(),
                  [&](const Shapes& shapes) { return effect.right_without.contains(shapes); });
  if (same_shapes && !effect.wrong_without && !effect.wrong_with.none())
    *kind +=
        StrCat(kind->empty() ? "an attribute's part is missing: wrong only with " : "; only with ",
               SecondValuesText(def, effect.wrong_with));
  if (kind->empty())
    *kind =
        "one of its terms, or a factor that goes with the values: it has no wrong sign or constant "
        "factor as a whole, lacks no sum and is no other input's";
}

// A verdict on the rest is not one on the whole.
void Tally::NoteLeftOut(const GradientRow& row) {
  if (row.left_out_share() < kMuch) return;
  report.findings.push_back(Warning(
      "CK020",
      StrCat("of the gradient of ", row.input, ", ", row.skipped, " of ",
             Count(row.elements + row.skipped, "element"), " (", PercentText(row.left_out_share()),
             ") could not be compared: ", report.name,
             " is not smooth there, or the noise of the differences is as large as they are")));
  report.findings.back().argument = StrCat("gradient of input ", row.input);
}

void Tally::NoteRefused() {
  const int64_t all = judged + report.cases_refused;
  if (judged * kFew > all || fits_other_shapes) return;
  report.findings.push_back(
      Warning("CK025", StrCat(report.name, " took ", judged, " of the ", Count(all, "call"),
                              " that it was tried with: what is said here is of those")));
}

// Where what is added to an output is zero, it looks as if nothing was written.
void Tally::DropUnwrittenOfAddedTo() {
  const std::vector<Finding> all = report.findings;
  std::erase_if(report.findings, [&](const Finding& finding) {
    return finding.id == "CK006" && std::any_of(all.begin(), all.end(), [&](const Finding& f) {
             return f.id == "CK007" && f.argument == finding.argument;
           });
  });
}

void Tally::Judge(const OpwrightOpDef& def) {
  DropUnwrittenOfAddedTo();
  // What only an unfinished case shows.
  for (Finding& finding : report.findings) finding.cases = std::max<int64_t>(finding.cases, 1);
  bool wrong = false;
  for (const Finding& finding : report.findings)
    wrong = wrong || finding.severity == Severity::kError;
  const bool found = wrong;
  for (size_t r = 0; r < report.rows.size(); ++r) {
    GradientRow& row = report.rows[r];
    wrong = wrong || !row.right;
    if (!row.right) CompleteKind(def, attr_effects_[r], &row.kind);
    if (row.checked) NoteLeftOut(row);
    // A few elements that happen to fit say nothing.
    undecided = undecided || (row.checked && row.left_out_share() > kNearlyAll);
    if (row.checked || !row.reason.empty()) continue;
    if (row.elements == 0) row.skipped += skipped_uncounted_[r];
    row.reason = row.elements > 0
                     ? "only zeros and single elements were compared: other calls were refused, or "
                       "could not be compared"
                 : row.skipped > 0
                     ? "no element where the function is smooth and the noise below the gradient"
                 : row.cases > 0 && !found ? "it was empty in every case that ran"
                                           : "no case got as far";
    undecided = undecided || row.cases == 0 || row.skipped > 0 || row.elements > 0;
    // A list that never was so long is no gap.
    if (row.cases == 0 && row.input.ends_with(']')) row.reason = "no case with so many tensors ran";
  }
  // "right" is no word for an operator whose metadef refuses most calls.
  const bool contradicts_itself = HasFound("CK022");
  undecided = undecided || (report.cases_refused > report.cases_run && contradicts_itself);
  if (judged > 0 && !contradicts_itself) NoteRefused();
  // Cases that end early leave values unmet that others would have met.
  if (!found && judged > 0)
    for (Finding& finding : attrs.Unmet(def)) report.findings.push_back(std::move(finding));
  // What most callers use.
  undecided = undecided || attrs.IsDefaultUnmet(def);
  if (judged == 0) NothingRan(def);
  report.verdict = wrong ? Verdict::kWrong : undecided ? Verdict::kUndecided : Verdict::kRight;
}

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
#include "check/check.h"

#include <algorithm>
#include <cstring>
#include <set>

#include "base/dtype_name.h"
#include "base/file.h"
#include "base/text.h"
#include "build/build.h"
#include "check/number_text.h"
#include "check/run_case.h"
#include "registry/loader.h"
#include "runtime/dtype.h"

namespace opwright::check {
namespace {

// After so many ended children the rest would say the same.
constexpr int kMostCrashes = 8;

// A backward operator by its names, to which no operator of its library is bound: what is said of
// it; "" for any other.
std::string LoneBackwardText(const Operator& op) {
  constexpr std::string_view kGrad = "_grad";
  const OpwrightOpDef& def = op.def();
  const std::string_view name = def.name;
  const auto is_gradient = [](const OpwrightParamDef* param) {
    return std::string_view(param->name).starts_with("grad_");
  };
  if (!name.ends_with(kGrad) || def.num_outputs == 0 ||
      std::none_of(def.inputs, def.inputs + def.num_inputs, is_gradient) ||
      !std::all_of(def.outputs, def.outputs + def.num_outputs, is_gradient))
    return "";
  for (const auto& other : op.library().operators())
    if (other->backward() == &op) return "";
  const std::string_view forward = name.substr(0, name.size() - kGrad.size());
  return StrCat(
      "a backward operator by its names: what it computes cannot be checked without its "
      "forward operator ",
      forward,
      op.library().Find(forward) != nullptr
          ? StrCat(", whose metadef does not name it: write \"gradient\": \"", name, "\"")
          : std::string(", which is not in the library: build both together"));
}

class OperatorCheck {
 public:
  OperatorCheck(Operator& op, const Options& options) : op_(op), options_(options) {
    report_.name = op.name();
  }

  OperatorReport Run() {
    if (!op_.has_metadef()) {
      report_.verdict = Verdict::kUndecided;
      report_.note = "no metadef: nothing says what its inputs are";
      return std::move(report_);
    }
    PrepareRows();
    RunCases();
    Judge();
    return std::move(report_);
  }

 private:
  // Whether a gradient was right and wrong without and with second values of attributes.
  struct AttrEffect {
    bool right_without = false;
    bool wrong_without = false;
    std::string wrong_with;
  };

  const OpwrightOpDef& def() const { return op_.def(); }

  void PrepareRows() {
    report_.note = LoneBackwardText(op_);
    const std::string missing = op_.MissingBackward();
    if (!missing.empty())
      report_.note = StrCat("its backward operator ", missing,
                            " is not in the library: its gradient cannot be checked, and asking "
                            "for one is an error [GR001]");
    undecided_ = !report_.note.empty();
    if (op_.backward() == nullptr) {
      if (report_.note.empty()) report_.note = "no gradient: forward only";
      return;
    }
    report_.backward = op_.backward()->name();
    gradient_column_ = WidestColumn(op_, true);
    for (const RowName& name : RowsOf(def())) {
      GradientRow row;
      row.input = name.name;
      bool any_float = false;
      for (int32_t c = 0; c < def().num_columns; ++c)
        any_float = any_float || IsFloat(def().inputs[name.input]->dtypes[c]);
      if (!any_float) {
        row.reason = StrCat(DTypeName(def().inputs[name.input]->dtypes[0]), ": no gradient is due");
      } else if (!GivesGradient(*op_.gradient(), name.input)) {
        row.reason =
            StrCat(report_.backward, " gives none for it: asking for one is an error [GR002]");
      } else if (gradient_column_ < 0) {
        row.reason = StrCat(report_.backward, " has no dtype column for those of ", report_.name);
      } else {
        row.dtype = DTypeName(def().inputs[name.input]->dtypes[gradient_column_]);
        if (!IsFloat(def().inputs[name.input]->dtypes[gradient_column_]))
          row.reason = StrCat(row.dtype, ": no gradient is due");
      }
      report_.rows.push_back(std::move(row));
    }
    attr_effects_.resize(report_.rows.size());
    for (int32_t c = 0; c < def().num_columns; ++c) {
      if (HasGradientColumn(op_, c) || !HasFloat(c)) continue;
      Finding finding;
      finding.id = "CK017";
      finding.severity = Severity::kWarning;
      finding.case_text = ColumnText(c);
      finding.message = StrCat(report_.backward, " has no dtype column for ", ColumnText(c),
                               ", which ", report_.name, " takes: the backward call raises there");
      report_.findings.push_back(std::move(finding));
    }
  }

  bool HasFloat(int32_t column) const {
    for (int32_t i = 0; i < def().num_inputs; ++i)
      if (IsFloat(def().inputs[i]->dtypes[column])) return true;
    return false;
  }

  std::string ColumnText(int32_t column) const {
    std::vector<std::string> names;
    for (int32_t i = 0; i < def().num_inputs; ++i)
      names.push_back(DTypeName(def().inputs[i]->dtypes[column]));
    return StrCat("(", Join(names, ", "), ")");
  }

  void RunCases() {
    const std::vector<Case> cases = MakeCases(def());
    const int32_t widest = WidestColumn(op_, false);
    // The column in which differences are taken comes first: its findings say most.
    std::vector<int32_t> order = {gradient_column_ >= 0 ? gradient_column_ : widest};
    for (int32_t c = 0; c < def().num_columns; ++c)
      if (c != order[0]) order.push_back(c);
    void* const shared = MapShared(sizeof(CaseRecord));
    for (const int32_t column : order) {
      Columns columns{column, gradient_column_ >= 0 ? gradient_column_ : widest, gradient_column_,
                      op_.backward() != nullptr && HasGradientColumn(op_, column)};
      for (size_t k = 0; k < cases.size() && ended_ < kMostCrashes && !hangs_; ++k)
        RunOne(columns, cases[k], k, shared);
    }
    UnmapShared(shared, sizeof(CaseRecord));
  }

  void RunOne(const Columns& columns, const Case& c, size_t number, void* shared) {
    memset(shared, 0, sizeof(CaseRecord));
    auto* record = static_cast<CaseRecord*>(shared);
    const Outcome outcome = RunInChild(&record->state, options_.timeout_seconds, [&] {
      Recorder recorder(record);
      RunCase(op_, columns, c, options_.seed * 1000003 + number, &recorder);
    });
    const std::string second_values = record->second_values.chars;
    const std::string text = StrCat(CaseText(def(), columns.column, c),
                                    second_values.empty() ? "" : "; ", second_values);
    Take(*record, text);
    if (outcome.ending == Ending::kFinished && record->state.threw == 0) {
      if (record->refused != 0) {
        ++report_.cases_refused;
        const std::string reason = record->refusal.chars;
        if (report_.refusals.size() < 8 &&
            std::find(report_.refusals.begin(), report_.refusals.end(), reason) ==
                report_.refusals.end())
          report_.refusals.push_back(reason);
      } else {
        ++report_.cases_run;
        judged_ += record->empty == 0;
      }
      return;
    }
    ++judged_;
    TakeEnding(outcome, record->state, text);
  }

  void TakeEnding(const Outcome& outcome, const ChildState& state, const std::string& text) {
    Finding finding;
    finding.case_text = text;
    const std::string during = StrCat(" during ", state.stage.chars);
    switch (outcome.ending) {
      case Ending::kCrashed: {
        ++report_.cases_run;
        const std::string fault = FaultText(state.crash, &finding.kind);
        finding.id = fault.empty()                       ? "CK002"
                     : finding.kind == "writes an input" ? "CK008"
                                                         : "CK001";
        finding.argument = state.crash.buffer.chars;
        finding.message =
            StrCat(report_.name, " crashed with ", SignalText(outcome.code), during, fault);
        break;
      }
      case Ending::kExited:
        ++report_.cases_run;
        finding.id = "CK003";
        finding.message = StrCat(report_.name, " ended the process with status ", outcome.code,
                                 during, "; a kernel must never call exit()");
        break;
      case Ending::kTimedOut:
        ++report_.cases_run;
        hangs_ = true;
        finding.id = "CK004";
        finding.message =
            StrCat(report_.name, " did not return within ", options_.timeout_seconds, " s", during);
        break;
      default:
        finding.id = "CK018";
        finding.severity = Severity::kWarning;
        finding.message = outcome.ending == Ending::kNoChild
                              ? "no child process could be started"
                              : StrCat("the check ran out of memory", during);
        undecided_ = true;
    }
    ++ended_;
    AddFinding(std::move(finding));
  }

  void AddFinding(Finding finding) {
    for (Finding& other : report_.findings) {
      if (other.id != finding.id || other.argument != finding.argument) continue;
      ++other.cases;
      return;
    }
    report_.findings.push_back(std::move(finding));
  }

  void Take(const CaseRecord& record, const std::string& text) {
    for (int32_t k = 0; k < record.num_findings; ++k) {
      const FindingRecord& from = record.findings[k];
      Finding finding;
      finding.id = from.id.chars;
      finding.severity = static_cast<Severity>(from.severity);
      finding.argument = from.argument.chars;
      finding.case_text = text;
      finding.message = from.message.chars;
      finding.kind = from.kind.chars;
      finding.has_difference = from.has_difference != 0;
      finding.difference = FromRecord(from.difference);
      AddFinding(std::move(finding));
    }
    for (size_t r = 0; r < report_.rows.size() && r < CaseRecord::kRows; ++r) {
      const RowRecord& from = record.rows[r];
      if (from.used == 0) continue;
      GradientRow& row = report_.rows[r];
      ++row.cases;
      row.elements += from.elements;
      row.skipped += from.skipped;
      row.checked = row.checked || from.elements > 0;
      const bool standard = record.second_values.chars[0] == 0;
      AttrEffect& effect = attr_effects_[r];
      if (from.right != 0)
        effect.right_without = effect.right_without || (standard && from.elements > 0);
      else if (standard)
        effect.wrong_without = true;
      else
        effect.wrong_with = record.second_values.chars;
      if (from.worst.tolerance > 0) TakeWorst(from, text, &row);
    }
  }

  void TakeWorst(const RowRecord& from, const std::string& text, GradientRow* row) {
    const bool is_wrong = from.right == 0;
    const Difference worst = FromRecord(from.worst);
    const double before = row->worst.tolerance > 0 ? row->worst.error / row->worst.tolerance : -1;
    // A case whose kind is known says more than a larger error without one.
    const bool worse = worst.error / worst.tolerance > before;
    const bool says_more = is_wrong && row->kind.empty() && from.kind.chars[0] != 0;
    const bool says_less = is_wrong && !row->kind.empty() && from.kind.chars[0] == 0;
    if ((worse && !says_less && (is_wrong || row->right)) || says_more) {
      row->worst = worst;
      row->case_text = text;
      if (is_wrong) row->kind = from.kind.chars;
    }
    row->right = row->right && !is_wrong;
  }

  void NothingRan() {
    undecided_ = true;
    Finding finding;
    finding.id = "CK018";
    finding.severity = Severity::kWarning;
    finding.message = StrCat(report_.name, " accepted none of the ",
                             Count(report_.cases_refused, "call"), " that it was tried with",
                             report_.refusals.empty()
                                 ? std::string()
                                 : StrCat("; the first was refused with: ", report_.refusals[0]));
    report_.findings.push_back(std::move(finding));
  }

  // The attributes' part in a wrong gradient; a kind where no other is known.
  static void CompleteKind(const AttrEffect& effect, std::string* kind) {
    if (effect.right_without && !effect.wrong_without)
      *kind += StrCat(
          kind->empty() ? "an attribute's part is missing: wrong only with " : "; only with ",
          effect.wrong_with);
    if (kind->empty())
      *kind = "no common mistake: neither a sign, a factor, a missing sum nor another gradient";
  }

  // A verdict on the rest is not one on the whole.
  void NoteLeftOut(const GradientRow& row) {
    constexpr double kMuch = 0.25;
    if (row.left_out_share() < kMuch) return;
    Finding finding;
    finding.id = "CK020";
    finding.severity = Severity::kWarning;
    finding.argument = StrCat("gradient of input ", row.input);
    finding.message =
        StrCat("of the gradient of ", row.input, ", ", row.skipped, " of ",
               Count(row.elements + row.skipped, "element"), " (",
               PercentText(row.left_out_share()), ") could not be compared: ", report_.name,
               " is not smooth there, or the noise of the differences is as large as they are");
    report_.findings.push_back(std::move(finding));
  }

  // Where what is added to an output is zero, it looks as if nothing was written.
  void DropUnwrittenOfAddedTo() {
    const std::vector<Finding> all = report_.findings;
    std::erase_if(report_.findings, [&](const Finding& finding) {
      return finding.id == "CK006" && std::any_of(all.begin(), all.end(), [&](const Finding& f) {
               return f.id == "CK007" && f.argument == finding.argument;
             });
    });
  }

  void Judge() {
    DropUnwrittenOfAddedTo();
    bool wrong = false;
    for (const Finding& finding : report_.findings)
      wrong = wrong || finding.severity == Severity::kError;
    const bool found = wrong;
    for (size_t r = 0; r < report_.rows.size(); ++r) {
      GradientRow& row = report_.rows[r];
      wrong = wrong || !row.right;
      if (!row.right) CompleteKind(attr_effects_[r], &row.kind);
      if (row.checked) NoteLeftOut(row);
      if (row.checked || !row.reason.empty()) continue;
      row.reason = row.skipped > 0
                       ? "no element where the function is smooth and the noise below the gradient"
                   : row.cases > 0 && !found ? "it was empty in every case that ran"
                                             : "no case got as far";
      undecided_ = undecided_ || row.cases == 0 || row.skipped > 0;
      // A list that never was so long is no gap.
      if (row.cases == 0 && row.input.ends_with(']'))
        row.reason = "no case with so many tensors ran";
    }
    if (gradient_column_ < 0 && op_.backward() != nullptr) undecided_ = true;
    if (judged_ == 0) NothingRan();
    report_.verdict = wrong ? Verdict::kWrong : undecided_ ? Verdict::kUndecided : Verdict::kRight;
  }

  Operator& op_;
  const Options& options_;
  OperatorReport report_;
  std::vector<AttrEffect> attr_effects_;  // of each row
  int32_t gradient_column_ = -1;
  int64_t judged_ = 0;  // cases in which a kernel was called
  int ended_ = 0;
  bool hangs_ = false;
  bool undecided_ = false;
};

}  // namespace

Verdict Report::verdict() const {
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

OperatorReport CheckOperator(Operator& op, const Options& options) {
  return OperatorCheck(op, options).Run();
}

// A folder is built first.
Expected<LibraryHandle> Open(const std::string& path) {
  if (!IsDirectory(path)) return LoadLibrary(path);
  build::Request request;
  request.sources = {path};
  Expected<build::Result> built = build::Build(request);
  if (!built.ok()) return built.TakeError();
  return LoadLibrary(built->path);
}

Expected<Report> CheckLibrary(const std::string& path, const Options& options) {
  Report report;
  report.path = path;
  report.seed = options.seed;
  Expected<LibraryHandle> library = Open(path);
  if (!library.ok()) return library.TakeError();
  // A backward operator without a gradient of its own is checked through its forward operator.
  std::set<const Operator*> backward;
  for (const auto& op : (*library)->operators())
    if (op->backward() != nullptr && op->backward()->backward() == nullptr)
      backward.insert(op->backward());
  if (!options.op.empty()) {
    Expected<std::shared_ptr<Operator>> found = (*library)->Get(options.op);
    if (!found.ok()) return found.TakeError();
    for (const auto& op : (*library)->operators())
      if (op.get() == found->get() ? !backward.contains(op.get()) : op->backward() == found->get())
        report.operators.push_back(CheckOperator(*op, options));
    return report;
  }
  for (const auto& op : (*library)->operators())
    if (!backward.contains(op.get())) report.operators.push_back(CheckOperator(*op, options));
  return report;
}

}  // namespace opwright::check

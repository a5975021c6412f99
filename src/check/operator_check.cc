// SPDX-License-Identifier: Apache-2.0
//
// One operator: which gradients are due, every case of every dtype column in a child of its own,
// and how those ended.
#include <algorithm>
#include <cstring>

#include "base/dtype.h"
#include "base/dtype_name.h"
#include "base/text.h"
#include "check/check.h"
#include "check/run_case.h"
#include "check/tally.h"
#include "registry/library.h"

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
    tally_.report.name = op.name();
  }

  OperatorReport Run() {
    if (!op_.has_metadef()) {
      tally_.report.verdict = Verdict::kUndecided;
      tally_.report.note = "no metadef: nothing says what its inputs are";
      return std::move(tally_.report);
    }
    PrepareRows();
    RunCases();
    tally_.Judge();
    return std::move(tally_.report);
  }

 private:
  const OpwrightOpDef& def() const { return op_.def(); }

  void PrepareRows() {
    tally_.report.note = LoneBackwardText(op_);
    const std::string missing = op_.MissingBackward();
    if (!missing.empty())
      tally_.report.note =
          StrCat("its backward operator ", missing,
                 " is not in the library: its gradient cannot be checked, and asking "
                 "for one is an error [GR001]");
    tally_.undecided = !tally_.report.note.empty();
    if (op_.backward() == nullptr) {
      if (tally_.report.note.empty()) tally_.report.note = "no gradient: forward only";
      return;
    }
    tally_.report.backward = op_.backward()->name();
    gradient_column_ = WidestColumn(op_, true);
    tally_.undecided = tally_.undecided || gradient_column_ < 0;
    for (const RowName& name : RowsOf(def())) {
      GradientRow row;
      row.input = name.name;
      bool any_float = false;
      for (int32_t c = 0; c < def().num_columns; ++c)
        any_float = any_float || IsFloat(def().inputs[name.input]->dtypes[c]);
      if (!any_float) {
        row.reason = StrCat(DTypeName(def().inputs[name.input]->dtypes[0]), ": no gradient is due");
      } else if (!GivesGradient(*op_.gradient(), name.input)) {
        row.reason = StrCat(tally_.report.backward,
                            " gives none for it: asking for one is an error [GR002]");
      } else if (gradient_column_ < 0) {
        row.reason = StrCat(tally_.report.backward, " has no dtype column for those of ",
                            tally_.report.name);
      } else {
        row.dtype = DTypeName(def().inputs[name.input]->dtypes[gradient_column_]);
        if (!IsFloat(def().inputs[name.input]->dtypes[gradient_column_]))
          row.reason = StrCat(row.dtype, ": no gradient is due");
      }
      tally_.report.rows.push_back(std::move(row));
    }
    tally_.Begin();
    for (int32_t c = 0; c < def().num_columns; ++c) {
      if (HasGradientColumn(op_, c) || !HasFloat(c)) continue;
      Finding finding;
      finding.id = "CK017";
      finding.severity = Severity::kWarning;
      finding.case_text = ColumnText(c);
      finding.message =
          StrCat(tally_.report.backward, " has no dtype column for ", ColumnText(c), ", which ",
                 tally_.report.name, " takes: the backward call raises there");
      tally_.report.findings.push_back(std::move(finding));
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
    tally_.Take(*record, text);
    if (outcome.ending == Ending::kFinished && record->state.threw == 0) {
      if (record->refused != 0) {
        ++tally_.report.cases_refused;
        const std::string reason = record->refusal.chars;
        if (tally_.report.refusals.size() < 8 &&
            std::find(tally_.report.refusals.begin(), tally_.report.refusals.end(), reason) ==
                tally_.report.refusals.end())
          tally_.report.refusals.push_back(reason);
      } else {
        ++tally_.report.cases_run;
        tally_.judged += record->empty == 0;
      }
      return;
    }
    ++tally_.judged;
    TakeEnding(outcome, record->state, text);
  }

  void TakeEnding(const Outcome& outcome, const ChildState& state, const std::string& text) {
    Finding finding;
    finding.case_text = text;
    const std::string during = StrCat(" during ", state.stage.chars);
    switch (outcome.ending) {
      case Ending::kCrashed: {
        ++tally_.report.cases_run;
        const std::string fault = FaultText(state.crash, &finding.kind);
        finding.id = fault.empty()                       ? "CK002"
                     : finding.kind == "writes an input" ? "CK008"
                                                         : "CK001";
        finding.argument = state.crash.buffer.chars;
        finding.message =
            StrCat(tally_.report.name, " crashed with ", SignalText(outcome.code), during, fault);
        break;
      }
      case Ending::kExited:
        ++tally_.report.cases_run;
        finding.id = "CK003";
        finding.message = StrCat(tally_.report.name, " ended the process with status ",
                                 outcome.code, during, "; a kernel must never call exit()");
        break;
      case Ending::kTimedOut:
        ++tally_.report.cases_run;
        hangs_ = true;
        finding.id = "CK004";
        finding.message = StrCat(tally_.report.name, " did not return within ",
                                 options_.timeout_seconds, " s", during);
        break;
      default:
        finding.id = "CK018";
        finding.severity = Severity::kWarning;
        finding.message = outcome.ending == Ending::kNoChild
                              ? "no child process could be started"
                              : StrCat("the check ran out of memory", during);
        tally_.undecided = true;
    }
    ++ended_;
    tally_.AddFinding(std::move(finding));
  }

  Operator& op_;
  const Options& options_;
  Tally tally_;
  int32_t gradient_column_ = -1;
  int ended_ = 0;
  bool hangs_ = false;
};

}  // namespace

OperatorReport CheckOperator(Operator& op, const Options& options) {
  return OperatorCheck(op, options).Run();
}

}  // namespace opwright::check

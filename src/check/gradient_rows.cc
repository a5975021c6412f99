// SPDX-License-Identifier: Apache-2.0
#include "check/gradient_rows.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/dtype.h"
#include "base/dtype_name.h"
#include "base/text.h"
#include "check/cases.h"
#include "check/gradient_due.h"
#include "check/report.h"
#include "check/tally.h"
#include "registry/library.h"
#include "runtime/gradient.h"

namespace opwright::check {
namespace {

constexpr char kComplexText[] = "gradients of complex dtypes are not compared with differences";

// Of a backward operator by its names, to which no operator of its library is bound, the name of
// its forward operator; "" of any other.
std::string LoneForward(const Operator& op) {
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
  return std::string(name.substr(0, name.size() - kGrad.size()));
}

constexpr char kLoneText[] =
    "a backward operator by its names: what it computes cannot be checked without its forward "
    "operator ";

bool IsComplex(OpwrightDType dtype) { return dtype.code == kOpwrightComplex; }

// In any dtype column.
bool IsInAny(const OpwrightOpDef& def, const OpwrightParamDef& param, bool (*is)(OpwrightDType)) {
  return std::any_of(param.dtypes, param.dtypes + def.num_columns, is);
}

bool HasFloat(const OpwrightOpDef& def, int32_t column) {
  return std::any_of(def.inputs, def.inputs + def.num_inputs,
                     [&](const OpwrightParamDef* param) { return IsFloat(param->dtypes[column]); });
}

// Of an operator with a backward operator. column: in which differences are taken.
GradientRow RowOf(const Operator& op, const RowName& name, int32_t column) {
  const OpwrightOpDef& def = op.def();
  const OpwrightDType* const dtypes = def.inputs[name.input]->dtypes;
  const bool gives = GivesGradient(*op.gradient(), name.input);
  const bool any_float = IsInAny(def, *def.inputs[name.input], IsFloat);
  GradientRow row;
  row.input = name.name;
  if (IsInAny(def, *def.inputs[name.input], IsComplex) && gives) {
    if (!any_float) row.reason = kComplexText;
  } else if (!any_float) {
    row.reason = StrCat(DTypeName(dtypes[0]), ": no gradient is due");
  } else if (!gives) {
    row.reason =
        StrCat(op.backward()->name(), " gives none for it: asking for one is an error ", "[GR002]");
  } else if (column < 0) {
    row.reason = StrCat(op.backward()->name(), " has no dtype column for those of ", op.name());
  } else {
    row.dtype = DTypeName(dtypes[column]);
    if (!IsFloat(dtypes[column])) row.reason = StrCat(row.dtype, ": no gradient is due");
  }
  return row;
}

// Of float outputs whose gradient the backward operator does not take: it may have been forgotten.
std::string UnusedOutputsText(const Operator& op) {
  const OpwrightOpDef& def = op.def();
  std::vector<std::string> names;
  for (int32_t o = 0; o < def.num_outputs; ++o)
    if (IsInAny(def, *def.outputs[o], IsFloat) && !TakesGradientOf(*op.gradient(), o))
      names.emplace_back(def.outputs[o]->name);
  if (names.empty()) return "";
  return StrCat(op.backward()->name(), " takes no gradient of ",
                names.size() > 1 ? "outputs " : "output ", JoinAnd(names), ": a loss that uses ",
                names.size() > 1 ? "one of them" : "it", " is an error [GR023]");
}

Finding NoGradientColumn(const Operator& op, int32_t column) {
  const std::string text = ColumnText(op.def(), column);
  Finding finding =
      Warning("CK017", StrCat(op.backward()->name(), " has no dtype column for ", text, ", which ",
                              op.name(), " takes: the backward call raises there"));
  finding.case_text = text;
  return finding;
}

}  // namespace

std::string ForgottenText(const Operator& op) {
  const std::string forward = LoneForward(op);
  if (forward.empty() || op.library().Find(forward) == nullptr) return "";
  return StrCat(kLoneText, forward, ", whose metadef does not name it: write \"gradient\": \"",
                op.name(), "\"");
}

int32_t PrepareRows(Operator& op, Tally* tally) {
  OperatorReport& report = tally->report;
  const std::string forward = LoneForward(op);
  if (!forward.empty())
    report.note = StrCat(kLoneText, forward, ", which is not in the library: build both together");
  const std::string missing = op.MissingBackward();
  if (!missing.empty())
    report.note = StrCat("its backward operator ", missing,
                         " is not in the library: its gradient cannot be checked, and asking "
                         "for one is an error [GR001]");
  tally->undecided = !report.note.empty();
  if (op.backward() == nullptr) {
    if (report.note.empty()) report.note = "no gradient: forward only";
    return -1;
  }
  report.backward = op.backward()->name();
  const int32_t column = WidestColumn(op, true);
  tally->undecided = tally->undecided || column < 0;
  for (const RowName& name : RowsOf(op.def())) {
    if (IsInAny(op.def(), *op.def().inputs[name.input], IsComplex) &&
        GivesGradient(*op.gradient(), name.input)) {
      tally->undecided = true;
      if (report.note.empty()) report.note = kComplexText;
    }
    report.rows.push_back(RowOf(op, name, column));
  }
  if (report.note.empty()) report.note = UnusedOutputsText(op);
  tally->Begin();
  for (int32_t c = 0; c < op.def().num_columns; ++c)
    if (!HasGradientColumn(op, c) && HasFloat(op.def(), c))
      report.findings.push_back(NoGradientColumn(op, c));
  return column;
}

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
#include "check/run_case.h"

#include <algorithm>

#include "base/text.h"
#include "check/contract.h"
#include "check/gradient.h"

namespace opwright::check {
namespace {

bool IsMutated(const OpwrightOpDef& def, int32_t input) {
  return std::find(def.mutates, def.mutates + def.num_mutates, input) != def.mutates + def.num_mutates;
}

int64_t Elements(const ArrayLists& lists) {
  int64_t n = 0;
  for (const auto& list : lists)
    for (const Array& array : list) n += array.size();
  return n;
}

std::vector<Operand> ForwardOperands(Trial* trial) {
  std::vector<Operand> operands;
  const OpwrightOpDef& def = trial->def();
  const auto add = [&](ArrayLists* lists, const OpwrightParamDef* const* params, const char* what, bool output) {
    for (size_t i = 0; i < lists->size(); ++i) {
      for (size_t k = 0; k < (*lists)[i].size(); ++k) {
        const bool many = params[i]->kind == kOpwrightDynamic;
        operands.push_back({StrCat(what, params[i]->name, many ? StrCat("[", static_cast<int64_t>(k), "]") : std::string()),
                            output                                       ? Access::kWrite
                            : IsMutated(def, static_cast<int32_t>(i)) ? Access::kBoth
                                                                         : Access::kRead,
                            &(*lists)[i][k]});
      }
    }
  };
  add(&trial->inputs, def.inputs, "input ", false);
  add(&trial->outputs, def.outputs, "output ", true);
  return operands;
}

}  // namespace

void RunCase(Operator& op, const Columns& columns, const Case& c, uint64_t seed, Recorder* recorder) {
  Trial trial(op, columns.column, c, seed);
  const auto refused = [&](const Status& status) {
    if (status.ok()) return false;
    if (status.error().id == "CL012")
      recorder->Add("CK005", Severity::kError, "", StrCat("the kernel threw: ", status.error().message));
    else
      recorder->Refuse(status.error().message);
    return true;
  };
  recorder->Stage("shape inference");
  if (refused(trial.MakeOutputs())) return;
  if (Elements(trial.outputs) == 0) recorder->SetEmpty();
  Contract forward(recorder, op.name(), "forward", ForwardOperands(&trial),
                   [&](OpwrightTensor* tensors) { return trial.Forward(tensors); });
  if (refused(forward.Run())) return;
  const bool special = c.values == Values::kSpecial;
  const bool sound = !recorder->Has("CK006") && !recorder->Has("CK007") && !recorder->Has("CK009");
  GradientCheck gradient(&trial, recorder, seed ^ 0x5bd1e995u);
  if (columns.has_gradient) {
    if (!gradient.Contract() || special) return;
    gradient.Invariance();
  }
  if (special || !sound || recorder->Has("CK009") || op.def().num_mutates > 0) return;
  if (columns.column == columns.gradient)
    gradient.Differences();
  else if (columns.column != columns.widest)
    gradient.AgainstColumn(columns.widest, columns.has_gradient && columns.widest == columns.gradient);
}

}  // namespace opwright::check

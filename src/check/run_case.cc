// SPDX-License-Identifier: Apache-2.0
#include "check/run_case.h"

#include <algorithm>

#include "base/text.h"
#include "check/column.h"
#include "check/contract.h"
#include "check/differences.h"
#include "check/gradient.h"
#include "runtime/staging.h"

namespace opwright::check {
namespace {

int64_t Elements(const ArrayLists& lists) {
  int64_t n = 0;
  for (const auto& list : lists)
    for (const Array& array : list) n += array.size();
  return n;
}

std::vector<Operand> ForwardOperands(Trial* trial) {
  std::vector<Operand> operands;
  const OpwrightOpDef& def = trial->def();
  const auto add = [&](ArrayLists* lists, const OpwrightParamDef* const* params, const char* what,
                       bool output) {
    for (size_t i = 0; i < lists->size(); ++i) {
      for (size_t k = 0; k < (*lists)[i].size(); ++k) {
        const bool many = params[i]->kind == kOpwrightDynamic;
        operands.push_back(
            {StrCat(what, params[i]->name,
                    many ? StrCat("[", static_cast<int64_t>(k), "]") : std::string()),
             output                                  ? Access::kWrite
             : Mutates(def, static_cast<int32_t>(i)) ? Access::kBoth
                                                     : Access::kRead,
             &(*lists)[i][k]});
      }
    }
  };
  add(&trial->inputs, def.inputs, "input ", false);
  add(&trial->outputs, def.outputs, "output ", true);
  return operands;
}

// An index into a dimension of size 0 cannot be right.
bool HasNoValidIndex(const Trial& trial) {
  bool has_index = false;
  bool has_empty = false;
  for (size_t i = 0; i < trial.inputs.size(); ++i) {
    const OpwrightDType dtype = trial.InputType(static_cast<int32_t>(i));
    const bool integer = dtype.code == kOpwrightInt || dtype.code == kOpwrightUInt;
    for (const Array& array : trial.inputs[i]) {
      has_index = has_index || (integer && array.size() > 0);
      has_empty = has_empty || (!integer && array.size() == 0);
    }
  }
  return has_index && has_empty;
}

// An optional output that nobody wants is null to the kernel and changes no other.
void LeaveOutOutputs(Trial* trial, Recorder* recorder) {
  const OpwrightOpDef& def = trial->def();
  if (def.num_outputs < 2) return;
  const ArrayLists all = trial->outputs;
  for (int32_t o = 0; o < def.num_outputs; ++o) {
    if (def.outputs[o]->kind != kOpwrightOptional) continue;
    const std::string name = def.outputs[o]->name;
    recorder->Stage(StrCat("forward, with output ", name, " unwanted"));
    trial->outputs = all;
    trial->outputs[static_cast<size_t>(o)].clear();
    for (auto& list : trial->outputs)
      for (Array& array : list) std::fill(array.bytes.begin(), array.bytes.end(), char{0x5A});
    if (const Status status = trial->Forward(); !status.ok()) {
      recorder->Add("CK019", Severity::kError, StrCat("output ", name),
                    StrCat("the forward call fails when output ", name, ", which is optional, is ",
                           "unwanted: ", status.error().message));
      continue;
    }
    for (size_t k = 0; k < all.size(); ++k)
      for (size_t j = 0; j < trial->outputs[k].size(); ++j)
        if (trial->outputs[k][j].bytes != all[k][j].bytes)
          recorder->Add("CK019", Severity::kError, StrCat("output ", def.outputs[k]->name),
                        StrCat("output ", def.outputs[k]->name, " changes when output ", name,
                               ", which is optional, is unwanted"));
  }
  trial->outputs = all;
}

// A backward call that uses what the last forward call left behind gets that of other values.
void ForgetForward(const Trial& trial, const Case& c, uint64_t seed, SecondValues second,
                   Recorder* recorder) {
  recorder->Stage("forward, with other values");
  Trial other(trial.op(), trial.column(), c, seed ^ 0x165667b1u, second);
  if (other.MakeOutputs().ok()) (void)other.Forward();
}

// False when the operator refuses second values of attributes, which is its right.
bool RunWith(SecondValues second, Operator& op, const Columns& columns, const Case& c,
             uint64_t seed, Recorder* recorder) {
  Trial trial(op, columns.column, c, seed, second);
  const auto refused = [&](const Status& status) {
    if (status.ok()) return false;
    if (second != 0) return true;
    if (status.error().id == "CL012")
      recorder->Add("CK005", Severity::kError, "",
                    StrCat("the kernel threw: ", status.error().message));
    else
      recorder->Refuse(status.error().message);
    if (status.error().id == "CL022")
      recorder->Add("CK022", Severity::kWarning, "", status.error().message);
    return true;
  };
  if (HasNoValidIndex(trial)) {
    recorder->Refuse("not tried: no integer is a valid index where an input is empty");
    return true;
  }
  recorder->SetSecondValues(SecondValuesText(op.def(), second));
  recorder->Stage("shape inference");
  if (refused(trial.MakeOutputs())) return second == 0;
  recorder->SetEmpty(Elements(trial.outputs) == 0);
  Contract forward(recorder, op.name(), "forward", ForwardOperands(&trial),
                   [&](OpwrightTensor* tensors) { return trial.Forward(tensors); });
  if (refused(forward.Run())) return second == 0;
  const bool special = c.values == Values::kSpecial;
  const bool sound = !recorder->Has("CK006") && !recorder->Has("CK007") && !recorder->Has("CK009");
  if (sound && op.def().num_mutates == 0) LeaveOutOutputs(&trial, recorder);
  GradientCheck gradient(&trial, recorder, seed ^ 0x5bd1e995u);
  if (columns.has_gradient) {
    ForgetForward(trial, c, seed, second, recorder);
    if (!gradient.Contract() || special) return true;
    gradient.Invariance();
  }
  if (special || !sound || recorder->Has("CK009") || op.def().num_mutates > 0) return true;
  if (columns.column == columns.gradient)
    Differences(&trial, recorder, seed ^ 0x2545f491u).Run();
  else if (columns.column != columns.widest)
    CompareColumns(trial, recorder, seed ^ 0x27d4eb2fu, columns.widest,
                   columns.has_gradient && columns.widest == columns.gradient);
  return true;
}

}  // namespace

void RunCase(Operator& op, const Columns& columns, const Case& c, uint64_t seed,
             Recorder* recorder) {
  for (const SecondValues second : AttrChoices(op.def(), seed))
    if (RunWith(second, op, columns, c, seed, recorder)) return;
}

}  // namespace opwright::check

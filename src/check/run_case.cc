// SPDX-License-Identifier: Apache-2.0
#include "check/run_case.h"

#include <algorithm>

#include "base/dtype.h"
#include "base/sha256.h"
#include "base/text.h"
#include "check/column.h"
#include "check/contract.h"
#include "check/differences.h"
#include "check/gradient.h"
#include "runtime/staging.h"

namespace opwright::check {
namespace {

std::vector<Operand> ForwardOperands(Trial* trial) {
  std::vector<Operand> operands;
  const OpwrightOpDef& def = trial->def();
  const auto add = [&](ArrayLists* lists, const OpwrightParamDef* const* params, const char* what,
                       bool output) {
    for (size_t i = 0; i < lists->size(); ++i) {
      for (size_t k = 0; k < (*lists)[i].size(); ++k) {
        operands.push_back({StrCat(what, ItemName(*params[i], k)),
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
void ForgetForward(const Trial& trial, const Case& c, uint64_t seed, const SecondValues& second,
                   Recorder* recorder) {
  recorder->Stage("forward, with other values");
  Trial other(trial.op(), trial.column(), c, seed ^ 0x165667b1u, second);
  if (other.MakeOutputs().ok()) (void)other.Forward();
}

// What the forward call and its backward call give, as a hash. The outputs are made.
Expected<std::string> ResultsOf(Trial* trial, bool has_gradient, uint64_t seed) {
  OPWRIGHT_RETURN_IF_ERROR(trial->Forward());
  ArrayLists gradients;
  if (has_gradient) {
    Random random(seed ^ 0x1b873593u);
    ArrayLists cotangents = trial->MakeCotangents(&random);
    gradients = trial->MakeGradients();
    OPWRIGHT_RETURN_IF_ERROR(trial->Backward(cotangents, gradients));
  }
  std::string bytes;
  for (const ArrayLists* lists : {&trial->outputs, &gradients})
    for (const auto& list : *lists)
      for (const Array& array : list) {
        bytes += ShapeText(static_cast<int32_t>(array.shape.size()), array.shape.data());
        bytes.append(array.bytes.data(), array.bytes.size());
      }
  return Sha256Hex(bytes);
}

// Of a case whose calls, which have been between guard pages, give the same bits each time.
void KeepResults(Trial* trial, bool has_gradient, uint64_t seed, Recorder* recorder) {
  for (const char* id : {"CK001", "CK006", "CK007", "CK008", "CK009", "CK010", "CK011"})
    if (recorder->Has(id)) return;
  if (trial->def().num_mutates > 0) return;
  recorder->Stage("forward and backward, once more");
  Expected<std::string> results = ResultsOf(trial, has_gradient, seed);
  if (results.ok()) recorder->SetResults(*results);
}

// Elements of the outputs of long axes, two of which may meet in one output.
constexpr int64_t kMostOfLongAxes = 65536;
// And of others.
constexpr int64_t kMostOfOutputs = 1 << 20;

enum class Answer { kSettled, kShapesRefused, kRefused };

// A refusal without second values is kept in `refusal`; with them it is the operator's right.
Answer RunWith(const SecondValues& second, Operator& op, const Columns& columns, const Case& c,
               uint64_t seed, Recorder* recorder, std::string* refusal) {
  Trial trial(op, columns.column, c, seed, second);
  const auto refused = [&](const Status& status, Answer answer) {
    if (status.ok() || !second.none()) return status.ok() ? Answer::kSettled : answer;
    if (status.error().id == "CL012") {
      recorder->Add("CK005", Severity::kError, "",
                    StrCat("the kernel threw: ", status.error().message));
      return Answer::kSettled;
    }
    if (status.error().id == "CL022")
      recorder->Add("CK022", Severity::kWarning, "", status.error().message);
    if (refusal->empty()) *refusal = status.error().message;
    return answer;
  };
  if (HasNoValidIndex(trial)) {
    recorder->Refuse("not tried: no integer is a valid index where an input is empty");
    return Answer::kSettled;
  }
  recorder->SetTried(c.values, second, SecondValuesText(op.def(), second));
  recorder->Stage("shape inference");
  Status status = trial.MakeOutputs();
  if (!status.ok()) return refused(status, Answer::kShapesRefused);
  const int64_t elements = CountElements(trial.outputs);
  const bool too_many = elements > (c.long_axis ? kMostOfLongAxes : kMostOfOutputs);
  recorder->SetEmpty(elements == 0 || too_many);
  if (too_many) return Answer::kSettled;
  Contract forward(recorder, op.name(), "forward", ForwardOperands(&trial),
                   [&](OpwrightTensor* tensors) { return trial.Forward(tensors); });
  status = forward.Run();
  if (!status.ok()) {
    recorder->RefuseAttrs(second);
    return refused(status, Answer::kRefused);
  }
  const bool special = c.values == Values::kSpecial;
  const bool sound = !recorder->Has("CK006") && !recorder->Has("CK007") && !recorder->Has("CK009");
  if (sound && op.def().num_mutates == 0) LeaveOutOutputs(&trial, recorder);
  GradientCheck gradient(&trial, recorder, seed ^ 0x5bd1e995u);
  if (columns.has_gradient) {
    ForgetForward(trial, c, seed, second, recorder);
    if (!gradient.Contract()) return Answer::kSettled;
  }
  KeepResults(&trial, columns.has_gradient, seed, recorder);
  if (columns.has_gradient && !special && c.values != Values::kMasked) gradient.Invariance();
  if (special || !sound || recorder->Has("CK009") || op.def().num_mutates > 0)
    return Answer::kSettled;
  if (columns.column == columns.gradient)
    Differences(&trial, recorder, c.samples_few, seed ^ 0x2545f491u).Run();
  else if (columns.column != columns.reference)
    CompareColumns(trial, recorder, seed ^ 0x27d4eb2fu, columns.reference,
                   columns.has_gradient && columns.reference == columns.gradient);
  return Answer::kSettled;
}

// Lists that are required may have to be as long as a dimension is, or have an item for each.
std::vector<int64_t> ListLengths(const OpwrightOpDef& def, const Case& c) {
  std::vector<int64_t> lengths = {1};
  if (!HasRequiredList(def)) return lengths;
  const auto add = [&](int64_t length) {
    if (length >= 1 && length <= kMostListItems &&
        std::find(lengths.begin(), lengths.end(), length) == lengths.end())
      lengths.push_back(length);
  };
  for (const auto& input : c.shapes)
    for (const Shape& shape : input) {
      add(std::ssize(shape));
      for (const int64_t size : shape) add(size);
    }
  for (const int64_t length : {2, 3, 4}) add(length);
  return lengths;
}

// What the operator is tried with until it takes the case.
std::vector<SecondValues> ChoicesOf(const OpwrightOpDef& def, const Case& c, uint64_t seed) {
  if (c.fixed) return {*c.fixed};
  // The first input is the one that an axis is of.
  const bool has_middle = !c.shapes.empty() && !c.shapes[0].empty() && c.shapes[0][0].size() >= 3;
  const std::vector<SecondValues> values =
      c.alone >= 0
          ? AloneChoices(c.alone, has_middle)
          : AttrChoices(def, c.turn < 0 ? seed : seed / 2 * 2 + static_cast<uint64_t>(c.turn),
                        has_middle && seed / 2 % 2 == 0);
  std::vector<SecondValues> choices;
  for (const int64_t length : ListLengths(def, c))
    for (SecondValues second : values) {
      second.length = length;
      choices.push_back(second);
    }
  return choices;
}

bool AnyNarrow(const OpwrightParamDef* const* params, int32_t count, int32_t column) {
  return std::any_of(params, params + count, [&](const OpwrightParamDef* param) {
    return IsFloat(param->dtypes[column]) && IsNarrow(param->dtypes[column]);
  });
}

}  // namespace

bool IsTried(const OpwrightOpDef& def, const Columns& columns, const Case& c) {
  if (c.first_column) return columns.column == columns.reference;
  if (!c.is_probe()) return true;
  if (columns.column != columns.gradient) return false;
  return c.values != Values::kHundreds ||
         (!AnyNarrow(def.inputs, def.num_inputs, columns.column) &&
          !AnyNarrow(def.outputs, def.num_outputs, columns.column));
}

void RunCase(Operator& op, const Columns& columns, const Case& c, uint64_t seed,
             Recorder* recorder) {
  recorder->SetTried(c.values, {}, "");
  std::string refusal;
  std::vector<Values> values = {c.values};
  // What takes probabilities alone takes these.
  if (c.values == Values::kNormal) values.push_back(Values::kUnit);
  Case tried = c;
  for (const Values each : values) {
    tried.values = each;
    bool by_kernel = false;
    for (const SecondValues& second : ChoicesOf(op.def(), c, seed)) {
      const Answer answer = RunWith(second, op, columns, tried, seed, recorder, &refusal);
      if (answer == Answer::kSettled) return;
      by_kernel = by_kernel || answer == Answer::kRefused;
    }
    if (!by_kernel) break;
  }
  recorder->SetTried(c.values, {}, "");
  recorder->Refuse(refusal);
}

void RunAfter(Operator& op, const Columns& columns, const Known& before, const Known& after,
              Recorder* recorder) {
  const std::string values = SecondValuesText(op.def(), before.second);
  const std::string when =
      StrCat("after a call with ", CaseText(op.def(), columns.column, before.c),
             values.empty() ? "" : "; ", values);
  recorder->SetTried(after.c.values, after.second, SecondValuesText(op.def(), after.second));
  recorder->Stage("forward, with other shapes");
  Trial other(op, columns.column, before.c, before.seed, before.second);
  if (!other.MakeOutputs().ok() || !ResultsOf(&other, columns.has_gradient, before.seed).ok())
    return;
  recorder->Stage("forward or backward, " + when);
  Trial trial(op, columns.column, after.c, after.seed, after.second);
  Status status = trial.MakeOutputs();
  std::string results;
  if (status.ok()) {
    Expected<std::string> made = ResultsOf(&trial, columns.has_gradient, after.seed);
    status = made.ok() ? Status() : Status(made.TakeError());
    if (made.ok()) results = *made;
  }
  if (results != after.results)
    recorder->Add("CK009", Severity::kError, "",
                  status.ok() ? StrCat(op.name(), " gives other results ", when, " than alone")
                              : StrCat(op.name(), " fails ", when, ": ", status.error().message),
                  "keeps something of its first call");
}

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
#include "entries/mindspore/arguments.h"

#include <algorithm>
#include <cstring>

#include "base/dtype.h"
#include "base/dtype_name.h"
#include "base/text.h"
#include "entries/mindspore/attrs.h"
#include "runtime/signature.h"
#include "runtime/strided.h"

namespace opwright::entries {
namespace {

// None; in gradients, where MindSpore takes no None, Opwright's adapter passes a text.
bool IsAbsent(const char* dtype) {
  return strcmp(dtype, "none") == 0 || strcmp(dtype, "string") == 0;
}

bool Stands(const bool* which, int32_t i) { return which == nullptr || which[i]; }

}  // namespace

OpwrightArgument* MindSporeArguments::Make(int32_t count) {
  auto* arguments = arena_.Make<OpwrightArgument>(count);
  std::fill_n(arguments, count, OpwrightArgument{});
  return arguments;
}

opwright::Status MindSporeArguments::View(int32_t parameter, const char* what, const char* name,
                                          OpwrightTensor* tensor) {
  *tensor = {};
  tensor->data = call_.params[parameter];
  tensor->device_type = 1;
  tensor->ndim = call_.ndims[parameter];
  tensor->shape = call_.shapes[parameter];
  tensor->dtype = DTypeNamed(call_.dtypes[parameter]);
  if (tensor->dtype.bits != 0) return {};
  return MakeError("CL002", StrCat(def_.name, ": ", what, " ", name, " has MindSpore's dtype ",
                                   call_.dtypes[parameter], ", a tensor is due"));
}

opwright::Status MindSporeArguments::Distribute(const Row* rows, int32_t num_rows) {
  int32_t single = 0;
  int32_t lists = 0;
  for (const Row* row = rows; row < rows + num_rows; ++row)
    for (int32_t i = 0; i < row->size; ++i)
      if (Stands(row->which, i)) ++(row->params[i]->kind == kOpwrightDynamic ? lists : single);
  // Optional inputs at the end may be left out, where no list makes the count unsure.
  int32_t left_out = 0;
  if (lists == 0 && call_.num_params < single) {
    const Row& inputs = rows[0];
    for (int32_t i = inputs.size - 1; i >= 0 && inputs.params[i]->kind == kOpwrightOptional; --i)
      if (left_out < single - call_.num_params) ++left_out;
  }
  const int32_t rest = call_.num_params - single + left_out;
  if (rest < 0 || (lists == 0 ? rest > 0 : rest % lists != 0)) {
    std::string due;
    for (const Row* row = rows; row < rows + num_rows; ++row)
      for (int32_t i = 0; i < row->size; ++i)
        if (Stands(row->which, i))
          due += StrCat(due.empty() ? "" : ", ", row->what, " ", row->params[i]->name);
    return MakeError("CL001", StrCat(def_.name, ": MindSpore gave ", call_.num_params,
                                     " inputs and outputs, due are ", due));
  }
  const int32_t length = lists == 0 ? 0 : rest / lists;
  int32_t next = 0;
  for (const Row* row = rows; row < rows + num_rows; ++row) {
    for (int32_t i = 0; i < row->size; ++i) {
      if (!Stands(row->which, i)) continue;
      if (row == rows && i >= row->size - left_out) continue;
      const OpwrightParamDef& param = *row->params[i];
      const bool is_list = param.kind == kOpwrightDynamic;
      const int32_t count = is_list ? length : 1;
      if (param.kind == kOpwrightOptional && IsAbsent(call_.dtypes[next])) {
        ++next;
        continue;
      }
      auto* tensors = arena_.Make<OpwrightTensor>(count);
      for (int32_t k = 0; k < count; ++k)
        OPWRIGHT_RETURN_IF_ERROR(View(next++, row->what, param.name, &tensors[k]));
      row->arguments[i] = {tensors, count};
    }
  }
  return {};
}

opwright::Status MindSporeArguments::TakeCall() {
  if (def_.num_mutates > 0)
    return MakeError("CL023",
                     StrCat(def_.name, " writes its input ", def_.inputs[def_.mutates[0]]->name,
                            ", which MindSpore does not see; make what is written an "
                            "output and assign it, or call the operator on numpy arrays "
                            "or tensors of torch"));
  inputs_ = Make(def_.num_inputs);
  outputs_ = Make(def_.num_outputs);
  const Row rows[] = {{def_.inputs, def_.num_inputs, nullptr, "input", inputs_},
                      {def_.outputs, def_.num_outputs, nullptr, "output", outputs_}};
  OPWRIGHT_RETURN_IF_ERROR(Distribute(rows, 2));
  TakeNumbersAsWeak(outputs_);
  return {};
}

opwright::Status MindSporeArguments::TakeGradient(const OpwrightGradient& gradient) {
  inputs_ = Make(def_.num_inputs);
  outputs_ = Make(def_.num_outputs);
  output_grads_ = Make(def_.num_outputs);
  input_grads_ = Make(def_.num_inputs);
  bool* given = arena_.Make<bool>(def_.num_inputs);
  std::fill_n(given, def_.num_inputs, false);
  for (int32_t i = 0; i < gradient.num_outputs; ++i) given[gradient.outputs[i]] = true;
  bool* taken = arena_.Make<bool>(def_.num_outputs);
  std::fill_n(taken, def_.num_outputs, false);
  for (const OpwrightRole* role = gradient.inputs; role < gradient.inputs + gradient.num_inputs;
       ++role)
    if (role->kind == kOpwrightRoleOutput) taken[role->index] = true;
  const Row rows[] = {
      {def_.inputs, def_.num_inputs, nullptr, "input", inputs_},
      {def_.outputs, def_.num_outputs, taken, "output", outputs_},
      {def_.outputs, def_.num_outputs, nullptr, "the gradient of output", output_grads_},
      {def_.inputs, def_.num_inputs, given, "the gradient of input", input_grads_}};
  OPWRIGHT_RETURN_IF_ERROR(Distribute(rows, 4));
  TakeNumbersAsWeak(output_grads_);
  ConvertNumbers();
  for (int32_t i = 0; i < def_.num_inputs; ++i)
    for (int64_t k = 0; k < input_grads_[i].count; ++k)
      if (inputs_[i].count > 0 && input_grads_[i].tensors[k].dtype.code == kOpwrightComplex)
        return MakeError("GR006",
                         StrCat(def_.name, ": the gradient of input ", def_.inputs[i]->name, " is ",
                                DTypeName(input_grads_[i].tensors[k].dtype),
                                "; complex gradients are not supported in MindSpore"));
  // What is no float has no gradient: zeros. Nor has what is absent.
  for (int32_t i = 0; i < def_.num_inputs; ++i) {
    if (inputs_[i].count == 0) input_grads_[i].count = 0;
    for (int64_t k = 0; k < input_grads_[i].count; ++k) {
      const OpwrightTensor& t = input_grads_[i].tensors[k];
      if (IsFloat(t.dtype)) continue;
      memset(t.data, 0, static_cast<size_t>(NumElements(t) * ItemSize(t.dtype)));
      input_grads_[i].count = 0;
    }
  }
  return {};
}

// Weak numbers as tensors of the column: a gradient is no call that could convert them.
void MindSporeArguments::ConvertNumbers() {
  Expected<int32_t> column = SelectColumn(def_, inputs_, def_.num_inputs);
  if (!column.ok()) return;  // the call will say so
  for (int32_t i = 0; i < def_.num_inputs; ++i) {
    if (inputs_[i].count != 1 || !IsWeak(inputs_[i].tensors->dtype)) continue;
    OpwrightTensor& t = *inputs_[i].tensors;
    OpwrightTensor converted = t;
    converted.dtype = def_.inputs[i]->dtypes[*column];
    converted.data = arena_.Make<double>(2);
    CopyTensor(t, converted);
    t = converted;
  }
}

// A Python number comes as a 0-d float32, int64 or bool like any other 0-d tensor. Where the column
// of the inputs as they are is not that of the outputs, the outputs were inferred with numbers.
void MindSporeArguments::TakeNumbersAsWeak(const OpwrightArgument* results) {
  bool any = false;
  for (int32_t i = 0; i < def_.num_inputs; ++i)
    any = any || (inputs_[i].count == 1 && inputs_[i].tensors->ndim == 0);
  if (!any) return;
  Expected<int32_t> column = SelectColumn(def_, inputs_, def_.num_inputs);
  bool fits = column.ok();
  for (int32_t i = 0; fits && i < def_.num_outputs; ++i)
    if (results[i].count > 0) fits = def_.outputs[i]->dtypes[*column] == results[i].tensors->dtype;
  if (fits) return;
  for (int32_t i = 0; i < def_.num_inputs; ++i) {
    if (inputs_[i].count != 1 || inputs_[i].tensors->ndim != 0) continue;
    OpwrightTensor& t = *inputs_[i].tensors;
    if (t.dtype == kFloat32) {
      auto* value = arena_.Make<double>(1);
      *value = AsWritten(*static_cast<const float*>(t.data));
      t.data = value;
      t.dtype = {kOpwrightFloat, 64, 0};
    } else if (t.dtype.code == kOpwrightBool ||
               (t.dtype.code == kOpwrightInt && t.dtype.bits == 64)) {
      auto* value = arena_.Make<int64_t>(1);
      *value = t.dtype.bits == 64 ? *static_cast<const int64_t*>(t.data)
                                  : *static_cast<const uint8_t*>(t.data);
      t.data = value;
      t.dtype = {t.dtype.code, 64, 0};
    }
  }
}

}  // namespace opwright::entries

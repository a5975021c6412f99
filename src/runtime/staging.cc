// SPDX-License-Identifier: Apache-2.0
#include "runtime/staging.h"

#include <algorithm>
#include <cstring>

#include "base/dtype.h"
#include "base/dtype_name.h"
#include "base/text.h"
#include "runtime/strided.h"

namespace opwright {
namespace {

bool Overlaps(const ByteRange& a, const ByteRange& b) {
  return a.begin < a.end && b.begin < b.end && a.begin < b.end && b.begin < a.end;
}

}  // namespace

Status Staging::Prepare() {
  const OpwrightOpDef& def = *launch_.def;
  MeasureWritten();
  if (num_written_ > 1) OPWRIGHT_RETURN_IF_ERROR(CheckApart());
  inputs_ = arena_.Make<OpwrightArgument>(def.num_inputs);
  outputs_ = arena_.Make<OpwrightArgument>(def.num_outputs);
  for (int32_t i = 0; i < def.num_inputs; ++i) OPWRIGHT_RETURN_IF_ERROR(PrepareInput(i));
  if (launch_.entry->kernel->takes_expanded) OPWRIGHT_RETURN_IF_ERROR(ExpandInputs());
  for (int32_t i = 0; i < def.num_outputs; ++i) OPWRIGHT_RETURN_IF_ERROR(PrepareOutput(i));
  return {};
}

bool Mutates(const OpwrightOpDef& def, int32_t input) {
  return std::find(def.mutates, def.mutates + def.num_mutates, input) !=
         def.mutates + def.num_mutates;
}

// What the kernel writes must not change what it still reads: outputs, and the inputs that it
// mutates.
void Staging::MeasureWritten() {
  const OpwrightOpDef& def = *launch_.def;
  int64_t most = 0;
  for (int32_t i = 0; i < launch_.num_outputs; ++i) most += launch_.outputs[i].count;
  for (int32_t m = 0; m < def.num_mutates; ++m) most += launch_.inputs[def.mutates[m]].count;
  written_ = arena_.Make<Written>(most);
  const auto add = [this](const OpwrightArgument& argument, const char* name, bool is_input) {
    for (int64_t k = 0; k < argument.count; ++k) {
      const ByteRange range = BytesOf(argument.tensors[k]);
      if (range.begin == range.end) continue;
      written_[num_written_++] = {range, &argument.tensors[k], name, is_input};
      if (num_written_ == 1) hull_ = range;
      hull_ = {std::min(hull_.begin, range.begin), std::max(hull_.end, range.end)};
    }
  };
  for (int32_t i = 0; i < launch_.num_outputs; ++i)
    add(launch_.outputs[i], def.outputs[i]->name, false);
  for (int32_t m = 0; m < def.num_mutates; ++m)
    add(launch_.inputs[def.mutates[m]], def.inputs[def.mutates[m]]->name, true);
}

bool Staging::OverlapsWritten(const OpwrightTensor& t) const {
  const ByteRange range = BytesOf(t);
  if (!Overlaps(range, hull_)) return false;
  for (int64_t k = 0; k < num_written_; ++k)
    if (Overlaps(range, written_[k].range)) return true;
  return false;
}

// Two tensors in one memory cannot both hold what is written to them.
Status Staging::CheckApart() const {
  for (int64_t i = 1; i < num_written_; ++i) {
    const Written& late = written_[i];
    for (int64_t k = 0; k < i; ++k) {
      const Written& early = written_[k];
      if (!Overlaps(late.range, early.range)) continue;
      // Ranges of other strides may interleave: those are the caller's affair.
      if (DataOf(*late.tensor) != DataOf(*early.tensor) &&
          !(IsDense(*late.tensor) && IsDense(*early.tensor)))
        continue;
      const bool alike = late.is_input == early.is_input;
      return MakeError(
          "CL008", StrCat(launch_.def->name, ": ", early.is_input ? "input" : "output",
                          alike ? "s " : " ", early.name, " and ", alike ? "" : "input ", late.name,
                          late.is_input ? ", written by the operator," : "",
                          " lie in the same memory; pass two of their own"));
    }
  }
  return {};
}

// A dense tensor of the same shape in scratch.
Status Staging::Stage(const OpwrightTensor& t, OpwrightDType dtype, OpwrightTensor* staged) {
  *staged = t;
  staged->dtype = dtype;
  staged->strides = nullptr;
  staged->byte_offset = 0;
  const int64_t bytes = NumElements(t) * ItemSize(dtype);
  staged->data = arena_.Large(static_cast<size_t>(bytes));
  if (staged->data == nullptr)
    return MakeError(
        "CL010", StrCat(launch_.def->name, ": no memory for a dense copy of ", bytes, " bytes"));
  return {};
}

// A number of the host language must be one that the column's integers have.
Status Staging::CheckWeak(int32_t input, const OpwrightTensor& t, OpwrightDType dtype) const {
  const bool is_unsigned = dtype.code == kOpwrightUInt;
  if (t.dtype.code == kOpwrightFloat || (dtype.code != kOpwrightInt && !is_unsigned) ||
      NumElements(t) != 1)
    return {};
  int64_t value;
  memcpy(&value, DataOf(t), sizeof value);
  const int bits = dtype.bits - (is_unsigned ? 0 : 1);
  const int64_t most = bits >= 63 ? INT64_MAX : (int64_t{1} << bits) - 1;
  const int64_t least = is_unsigned ? 0 : -most - 1;
  if (value >= least && value <= most) return {};
  return MakeError(
      "CL002", StrCat(launch_.def->name, ": the number ", value, " of input ",
                      launch_.def->inputs[input]->name, " is out of range for ", DTypeName(dtype)));
}

// Memory that is written must have a place of its own for each element.
Status Staging::CheckDistinct(const char* what, const char* name, const OpwrightTensor& t) const {
  if (!RepeatsMemory(t)) return {};
  return MakeError("CL008", StrCat(launch_.def->name, ": ", what, " ", name,
                                   " has several elements in one place of memory; "
                                   "pass one without repeats"));
}

// Whether the kernel can have the one tensor of an input as the caller gave it, strides and all.
bool Staging::IsReady(const OpwrightArgument& given, OpwrightDType dtype) const {
  if (given.count != 1) return false;
  const OpwrightTensor& t = given.tensors[0];
  return t.dtype == dtype && HasDenseStrides(t) && IsAligned(t) && !OverlapsWritten(t);
}

Status Staging::PrepareInput(int32_t i) {
  const OpwrightArgument& given = launch_.inputs[i];
  const OpwrightDType dtype = launch_.def->inputs[i]->dtypes[plan_.column];
  const bool mutates = Mutates(*launch_.def, i);
  if (!mutates && !launch_.entry->kernel->takes_expanded && IsReady(given, dtype)) {
    inputs_[i] = given;
    return {};
  }
  OpwrightTensor* tensors = arena_.Make<OpwrightTensor>(given.count);
  inputs_[i] = {tensors, given.count};
  for (int64_t k = 0; k < given.count; ++k) {
    const OpwrightTensor& t = given.tensors[k];
    if (t.dtype == dtype && IsDense(t) && IsAligned(t) && (mutates || !OverlapsWritten(t))) {
      tensors[k] = t;
    } else {
      const char* const name = launch_.def->inputs[i]->name;
      if (mutates && !(t.dtype == dtype))
        return MakeError("CL008", StrCat(launch_.def->name, ": input ", name,
                                         " is written by the operator and cannot be "
                                         "converted from ",
                                         DTypeName(t.dtype), " to ", DTypeName(dtype)));
      if (mutates) OPWRIGHT_RETURN_IF_ERROR(CheckDistinct("input", name, t));
      if (IsWeak(t.dtype)) OPWRIGHT_RETURN_IF_ERROR(CheckWeak(i, t, dtype));
      OPWRIGHT_RETURN_IF_ERROR(Stage(t, dtype, &tensors[k]));
      CopyTensor(t, tensors[k]);
      must_copy_back_ = must_copy_back_ || mutates;
    }
    tensors[k].strides = arena_.Make<int64_t>(t.ndim);
    DenseStrides(t.ndim, t.shape, tensors[k].strides);
  }
  return {};
}

Status Staging::PrepareOutput(int32_t i) {
  const OpwrightArgument& given = launch_.outputs[i];
  const OpwrightDType dtype = plan_.outputs[i].dtype;
  if (given.count == 1 && num_written_ <= 1 && HasDenseStrides(given.tensors[0]) &&
      given.tensors[0].dtype == dtype && IsAligned(given.tensors[0])) {
    outputs_[i] = given;
    return {};
  }
  OpwrightTensor* tensors = arena_.Make<OpwrightTensor>(given.count);
  outputs_[i] = {tensors, given.count};
  for (int64_t k = 0; k < given.count; ++k) {
    const OpwrightTensor& t = given.tensors[k];
    if (t.dtype == dtype && IsDense(t) && IsAligned(t)) {
      tensors[k] = t;
    } else {
      OPWRIGHT_RETURN_IF_ERROR(CheckDistinct("output", launch_.def->outputs[i]->name, t));
      OPWRIGHT_RETURN_IF_ERROR(Stage(t, dtype, &tensors[k]));
      must_copy_back_ = true;
    }
    tensors[k].strides = arena_.Make<int64_t>(t.ndim);
    DenseStrides(t.ndim, t.shape, tensors[k].strides);
  }
  return {};
}

// The output before `output` for whose rule an input was expanded; -1: none.
int32_t Staging::ExpandedFor(int32_t input, int32_t output) const {
  for (int32_t o = 0; o < output; ++o) {
    const OpwrightShapeRule& rule = *launch_.def->shape_rules[o];
    const int32_t* const end = rule.args + rule.num_args;
    if (IsExpanding(o) && std::find(rule.args, end, input) != end) return o;
  }
  return -1;
}

bool Staging::IsExpanding(int32_t output) const {
  return launch_.def->shape_rules[output]->kind == kOpwrightShapeBroadcast &&
         plan_.outputs[output].count == 1;
}

// The inputs named in a broadcast(...) rule, seen in its shape. One that two rules name has one
// view all the same: their shapes must be equal.
Status Staging::ExpandInputs() {
  const OpwrightOpDef& def = *launch_.def;
  for (int32_t o = 0; o < def.num_outputs; ++o) {
    if (!IsExpanding(o)) continue;
    const OpwrightShapeRule& rule = *def.shape_rules[o];
    const ShapeView& shape = plan_.outputs[o].shapes[0];
    for (int32_t a = 0; a < rule.num_args; ++a) {
      const int32_t input = rule.args[a];
      if (std::find(rule.args, rule.args + a, input) != rule.args + a) continue;
      if (const int32_t earlier = ExpandedFor(input, o); earlier >= 0) {
        const ShapeView& other = plan_.outputs[earlier].shapes[0];
        if (IsSameShape(other.ndim, other.dims, shape.ndim, shape.dims)) continue;
        return MakeError(
            "CL005", StrCat(def.name, ": input ", def.inputs[input]->name, " is expanded to ",
                            ShapeText(other.ndim, other.dims), " for output ",
                            def.outputs[earlier]->name, " and to ",
                            ShapeText(shape.ndim, shape.dims), " for output ", def.outputs[o]->name,
                            ", and a function kernel sees it in one shape: name all inputs of both "
                            "in each broadcast(...), or write a class kernel"));
      }
      const OpwrightArgument& argument = inputs_[input];
      for (int64_t k = 0; k < argument.count; ++k) {
        OpwrightTensor& t = argument.tensors[k];
        if (IsSameShape(t.ndim, t.shape, shape.ndim, shape.dims)) continue;
        // One element would stand for several that are written.
        if (Mutates(def, input))
          return MakeError("CL008",
                           StrCat(def.name, ": input ", def.inputs[input]->name,
                                  " is written by the operator and has shape ", ShapeText(t),
                                  ", not that of output ", def.outputs[o]->name, " ",
                                  ShapeText(shape.ndim, shape.dims)));
        Expand(shape, &t);
      }
    }
  }
  return {};
}

void Staging::Expand(const ShapeView& shape, OpwrightTensor* t) {
  const int32_t lead = shape.ndim - t->ndim;
  if (lead < 0) return;
  int64_t* strides = arena_.Make<int64_t>(shape.ndim);
  for (int32_t k = 0; k < shape.ndim; ++k) {
    const bool repeats = k < lead || (t->shape[k - lead] == 1 && shape.dims[k] != 1);
    strides[k] = repeats ? 0 : t->strides[k - lead];
  }
  t->ndim = shape.ndim;
  t->shape = const_cast<int64_t*>(shape.dims);
  t->strides = strides;
}

void Staging::CopyBack() {
  const OpwrightOpDef& def = *launch_.def;
  const auto copy = [](const OpwrightArgument& staged, const OpwrightArgument& given) {
    for (int64_t k = 0; k < staged.count; ++k)
      if (DataOf(staged.tensors[k]) != DataOf(given.tensors[k]))
        CopyTensor(staged.tensors[k], given.tensors[k]);
  };
  for (int32_t i = 0; i < def.num_outputs; ++i) copy(outputs_[i], launch_.outputs[i]);
  for (int32_t m = 0; m < def.num_mutates; ++m)
    copy(inputs_[def.mutates[m]], launch_.inputs[def.mutates[m]]);
}

}  // namespace opwright

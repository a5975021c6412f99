// SPDX-License-Identifier: Apache-2.0
#include "runtime/shape.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/dtype.h"
#include "base/text.h"
#include "runtime/shape_program.h"
#include "runtime/strided.h"

namespace opwright {

std::string PatternText(const OpwrightOpDef& def, const OpwrightParamDef& param,
                        std::string_view quote) {
  if (param.leading_any && param.num_dims == 0) return "[-2]";
  std::vector<std::string> dims;
  if (param.leading_any) dims.push_back(StrCat(quote, "...", quote));
  for (int32_t k = 0; k < param.num_dims; ++k)
    dims.push_back(param.dims[k] <= -2 ? StrCat(quote, def.symbols[-(param.dims[k] + 2)], quote)
                                       : StrCat(param.dims[k]));
  return StrCat("[", Join(dims, ", "), "]");
}

std::string_view AnyRankHint(const OpwrightParamDef& param) {
  const bool vector = !param.leading_any && param.num_dims == 1 && param.dims[0] == -1;
  return vector ? "; [-1] is rank 1, write [-2] for any rank" : "";
}

namespace {

ShapeView ViewOf(const OpwrightTensor& t) { return {t.ndim, t.shape}; }

std::string TextOf(const ShapeView& shape) { return ShapeText(shape.ndim, shape.dims); }

bool Equal(const ShapeView& a, const ShapeView& b) {
  return IsSameShape(a.ndim, a.dims, b.ndim, b.dims);
}

Error ShapeError(const OpwrightOpDef& def, const OpwrightParamDef& param,
                 const OpwrightTensor& tensor, std::string_view why) {
  return MakeError("CL004",
                   StrCat(def.name, ": input ", param.name, " has shape ", ShapeText(tensor),
                          ", the metadef says ", PatternText(def, param), ": ", why));
}

Error RankError(const OpwrightOpDef& def, const OpwrightParamDef& param,
                const OpwrightTensor& tensor) {
  return ShapeError(def, param, tensor,
                    StrCat("rank ", param.leading_any ? "at least " : "", param.num_dims,
                           " expected, got ", tensor.ndim, AnyRankHint(param)));
}

// Who bound a symbol first, for the message.
std::string BinderOf(const OpwrightOpDef& def, int64_t symbol) {
  for (int32_t i = 0; i < def.num_inputs; ++i)
    for (int32_t k = 0; k < def.inputs[i]->num_dims; ++k)
      if (def.inputs[i]->dims[k] == -(symbol + 2)) return def.inputs[i]->name;
  return "another input";
}

// Why Bindings::Take refused the tensor.
Error PatternError(const OpwrightOpDef& def, const OpwrightParamDef& param, const OpwrightTensor& t,
                   Bindings bindings) {
  const int32_t lead = t.ndim - param.num_dims;
  if (lead < 0 || (lead > 0 && !param.leading_any)) return RankError(def, param, t);
  int32_t k = 0;
  while (bindings.TakeDim(param.dims[k], t.shape[lead + k])) ++k;
  const int64_t wanted = param.dims[k];
  const std::string due = wanted >= 0 ? StrCat(" must be ", wanted)
                                      : StrCat(" is ", def.symbols[-(wanted + 2)], " = ",
                                               bindings.symbols[-(wanted + 2)], " (from ",
                                               BinderOf(def, -(wanted + 2)), ")");
  return ShapeError(def, param, t,
                    StrCat("dimension ", lead + k, due, ", got ", t.shape[lead + k]));
}

}  // namespace

Expected<Bindings> BindShapes(const OpwrightOpDef& def, const OpwrightArgument* inputs,
                              Arena& arena) {
  Bindings bindings(def, arena);
  for (int32_t i = 0; i < def.num_inputs; ++i)
    for (int64_t k = 0; k < inputs[i].count; ++k)
      if (!bindings.Take(*def.inputs[i], inputs[i].tensors[k]))
        return PatternError(def, *def.inputs[i], inputs[i].tensors[k], bindings);
  return bindings;
}

bool BroadcastShapes(const ShapeView& a, const ShapeView& b, ShapeView* result, Arena& arena) {
  if (Equal(a, b)) {
    *result = a;
    return true;
  }
  const int32_t ndim = std::max(a.ndim, b.ndim);
  int64_t* dims = arena.Make<int64_t>(ndim);
  for (int32_t k = 0; k < ndim; ++k) {
    const int32_t ka = k - (ndim - a.ndim);
    const int32_t kb = k - (ndim - b.ndim);
    const int64_t da = ka < 0 ? 1 : a.dims[ka];
    const int64_t db = kb < 0 ? 1 : b.dims[kb];
    if (da != db && da != 1 && db != 1) return false;
    dims[k] = da == 1 ? db : da;
  }
  *result = {ndim, dims};
  return true;
}

ShapeList ShapesOf(const OpwrightArgument& argument, Arena& arena) {
  auto* shapes = arena.Make<ShapeView>(argument.count);
  for (int64_t k = 0; k < argument.count; ++k)
    shapes[k] = {argument.tensors[k].ndim, argument.tensors[k].shape};
  return {argument.count, shapes};
}

bool IsOfCaller(const OpwrightShapeRule& rule) {
  return rule.kind == kOpwrightShapeForward && rule.num_args == 0;
}

int64_t DynamicOutputCount(const OpwrightOpDef& def, int32_t output,
                           const OpwrightArgument* inputs) {
  const OpwrightShapeRule& rule = *def.shape_rules[output];
  for (int32_t k = 0; k < rule.num_args; ++k)
    if (def.inputs[rule.args[k]]->kind == kOpwrightDynamic) return inputs[rule.args[k]].count;
  for (int32_t i = 0; i < def.num_inputs; ++i)
    if (def.inputs[i]->kind == kOpwrightDynamic) return inputs[i].count;
  return 0;
}

namespace {

struct RuleContext {
  const OpwrightOpDef& def;
  int32_t output;
  const OpwrightArgument* inputs;
  const OpwrightAttr* attrs;
  const Bindings& bindings;
  Arena& arena;

  Error Fail(std::string_view why) const {
    const OpwrightShapeRule& rule = *def.shape_rules[output];
    return MakeError("CL005", StrCat(def.name, ": the shape of output ", def.outputs[output]->name,
                                     " by ", rule.text, ": ", why));
  }
  bool IsEmptyList(int32_t input) const {
    return def.inputs[input]->kind == kOpwrightDynamic && inputs[input].count == 0;
  }
  Error EmptyList(int32_t input) const {
    return MakeError("CL001", StrCat(def.name, ": the list ", def.inputs[input]->name,
                                     " is empty, one tensor or more are due"));
  }
  Error NoneGiven() const {
    const OpwrightShapeRule& rule = *def.shape_rules[output];
    for (int32_t k = 0; k < rule.num_args; ++k)
      if (IsEmptyList(rule.args[k])) return EmptyList(rule.args[k]);
    return Fail("none of its inputs was given");
  }
  // The shape, unless no memory could hold it.
  Expected<ShapeView> Possible(const ShapeView& shape) const {
    if (shape.ndim <= OPWRIGHT_MAX_RANK && IsPossibleShape(shape.ndim, shape.dims)) return shape;
    return Fail(StrCat("no memory holds the shape ", TextOf(shape)));
  }
};

Expected<ShapeView> SameShape(const RuleContext& c, const OpwrightShapeRule& rule, int64_t item) {
  // The k-th tensor of an output that is a list has the shape of the k-th of each list; one that is
  // none has the shape of all.
  const bool of_list = c.def.outputs[c.output]->kind == kOpwrightDynamic;
  const OpwrightTensor* first = nullptr;
  const char* first_name = nullptr;
  for (int32_t k = 0; k < rule.num_args; ++k) {
    const OpwrightArgument& argument = c.inputs[rule.args[k]];
    const OpwrightParamDef& param = *c.def.inputs[rule.args[k]];
    if (argument.count == 0) continue;
    const bool one_of_list = param.kind == kOpwrightDynamic && of_list;
    if (one_of_list && item >= argument.count)
      return c.Fail(StrCat("input ", param.name, " has ", argument.count, " tensors only"));
    const int64_t begin = one_of_list ? item : 0;
    const int64_t end = one_of_list ? item + 1 : argument.count;
    for (int64_t i = begin; i < end; ++i) {
      const OpwrightTensor& t = argument.tensors[i];
      if (first == nullptr) {
        first = &t;
        first_name = param.name;
      } else if (!Equal(ViewOf(*first), ViewOf(t))) {
        return c.Fail(StrCat(
            "inputs ", first_name, " ", ShapeText(*first), " and ", param.name, " ", ShapeText(t),
            " must have equal shapes; if the kernel takes others, say which in the metadef: a name "
            "for each dimension, or \"broadcast(...)\", which expands them for it"));
      }
    }
  }
  if (first == nullptr) return c.NoneGiven();
  return ViewOf(*first);
}

Expected<ShapeView> BroadcastShape(const RuleContext& c, const OpwrightShapeRule& rule) {
  ShapeView shape;
  bool any = false;
  for (int32_t k = 0; k < rule.num_args; ++k) {
    const OpwrightArgument& argument = c.inputs[rule.args[k]];
    for (int64_t j = 0; j < argument.count; ++j) {
      const ShapeView next = ViewOf(argument.tensors[j]);
      if (!any)
        shape = next;
      else if (!BroadcastShapes(shape, next, &shape, c.arena))
        return c.Fail(StrCat("shape ", TextOf(next), " of ", c.def.inputs[rule.args[k]]->name,
                             " does not broadcast with ", TextOf(shape)));
      any = true;
    }
  }
  if (!any) return c.NoneGiven();
  return c.Possible(shape);
}

// The value that an instruction reads, if the call has it.
std::optional<int64_t> ReadValue(const RuleContext& c, int64_t op, const int64_t* operands) {
  if (op == kOpwrightSymbol) {
    const int64_t value = c.bindings.symbols[*operands];
    return value < 0 ? std::nullopt : std::optional(value);
  }
  if (op == kOpwrightAttrInt64) return c.attrs[*operands].value.i;
  const OpwrightArgument& argument = c.inputs[*operands];
  if (argument.count == 0) return std::nullopt;
  const OpwrightTensor& t = argument.tensors[0];
  if (op == kOpwrightRank) return t.ndim;
  const int64_t axis = operands[1] < 0 ? operands[1] + t.ndim : operands[1];
  return axis < 0 || axis >= t.ndim ? std::nullopt : std::optional(t.shape[axis]);
}

// Whether the input is a list without tensors whose shape would have said the symbol.
bool IsEmptyListWith(const RuleContext& c, int32_t input, int64_t symbol) {
  const OpwrightParamDef& param = *c.def.inputs[input];
  const int64_t* end = param.dims + param.num_dims;
  return c.IsEmptyList(input) && std::find(param.dims, end, -symbol - 2) != end;
}

// Why an instruction gave no value.
Error ProgramError(const RuleContext& c, const MissingValue& missing) {
  switch (missing.op) {
    case kOpwrightSymbol:
      for (int32_t i = 0; i < c.def.num_inputs; ++i)
        if (IsEmptyListWith(c, i, *missing.operands)) return c.EmptyList(i);
      return c.Fail(StrCat(c.def.symbols[*missing.operands],
                           " is not known: the input that has it is absent"));
    case kOpwrightDim:
    case kOpwrightRank: {
      const OpwrightArgument& argument = c.inputs[*missing.operands];
      const char* const name = c.def.inputs[*missing.operands]->name;
      if (argument.count == 0) return c.Fail(StrCat("input ", name, " is absent"));
      return c.Fail(StrCat(name, ".dim(", missing.operands[1], ") of shape ",
                           ShapeText(argument.tensors[0])));
    }
    case kOpwrightFloorDiv:
    case kOpwrightMod:
    case kOpwrightCeilDiv:
      return c.Fail(StrCat("division of ", missing.a, " by ", missing.b));
    case kOpwrightNeg:
      return c.Fail(StrCat("overflow with ", missing.b));
    default:
      return c.Fail(StrCat("overflow with ", missing.a, " and ", missing.b));
  }
}

// What is left on the program's stack are the dims.
Expected<ShapeView> EvaluateDims(const RuleContext& c, const OpwrightShapeRule& rule) {
  int64_t* stack = c.arena.Make<int64_t>(rule.code_size);
  MissingValue missing;
  const int32_t top = RunShapeProgram(
      rule, stack, [&](int64_t op, const int64_t* operands) { return ReadValue(c, op, operands); },
      &missing);
  if (top < 0) return ProgramError(c, missing);
  for (int32_t k = 0; k < top; ++k)
    if (stack[k] < 0) return c.Fail(StrCat("dimension ", k, " would be ", stack[k]));
  const int32_t ndim = top + (rule.leading_any ? c.bindings.leading.ndim : 0);
  if (ndim > OPWRIGHT_MAX_RANK)
    return c.Fail(StrCat("it would have ", ndim, " dimensions, at most ", OPWRIGHT_MAX_RANK,
                         " are supported"));
  if (!rule.leading_any) return c.Possible({top, stack});
  if (!c.bindings.leading_input.bound) {
    for (int32_t i = 0; i < c.def.num_inputs; ++i)
      if (c.IsEmptyList(i) && c.def.inputs[i]->leading_any) return c.EmptyList(i);
    return c.Fail("\"...\" stands for nothing: no input given has it");
  }
  const ShapeView lead = c.bindings.leading;
  int64_t* dims = c.arena.Make<int64_t>(lead.ndim + top);
  std::copy(lead.dims, lead.dims + lead.ndim, dims);
  std::copy(stack, stack + top, dims + lead.ndim);
  return c.Possible({lead.ndim + top, dims});
}

}  // namespace

Expected<ShapeView> InferOutputShape(const OpwrightOpDef& def, int32_t output, int64_t item,
                                     const OpwrightArgument* inputs, const OpwrightAttr* attrs,
                                     const Bindings& bindings, const ShapeView* of_caller,
                                     Arena& arena) {
  const OpwrightShapeRule& rule = *def.shape_rules[output];
  const RuleContext context{def, output, inputs, attrs, bindings, arena};
  switch (rule.kind) {
    case kOpwrightShapeSame:
      return SameShape(context, rule, item);
    case kOpwrightShapeBroadcast:
      return BroadcastShape(context, rule);
    case kOpwrightShapeForward:
      if (rule.num_args > 0) return SameShape(context, rule, item);
      if (of_caller != nullptr) return context.Possible(*of_caller);
      return context.Fail(
          "it is that of the forward input, which only a gradient call knows; pass out=");
    default:
      return EvaluateDims(context, rule);
  }
}

}  // namespace opwright

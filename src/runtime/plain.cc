// SPDX-License-Identifier: Apache-2.0
#include "runtime/plain.h"

#include "base/dtype.h"
#include "runtime/attrs.h"
#include "runtime/shape.h"
#include "runtime/strided.h"

namespace opwright {
namespace {

// Row-major, aligned, with elements, on the CPU.
bool IsPlain(const OpwrightTensor& t) {
  if (t.device_type != 1 || t.data == nullptr || t.ndim < 0 || t.ndim > OPWRIGHT_MAX_RANK ||
      ((t.strides == nullptr || t.shape == nullptr) && t.ndim > 0) || !IsAligned(t))
    return false;
  int64_t n = 1;
  for (int32_t k = t.ndim - 1; k >= 0; --k)
    if (t.shape[k] <= 0 || t.strides[k] != n || __builtin_mul_overflow(n, t.shape[k], &n))
      return false;
  return n <= INT64_MAX / 16;  // as IsPossibleShape has it
}

ByteRange PlainBytes(const OpwrightTensor& t) {
  const char* const begin = DataOf(t);
  return {begin, begin + NumElements(t) * ItemSize(t.dtype)};
}

int32_t ExactColumn(const Launch& launch) {
  const OpwrightOpDef& def = *launch.def;
  const auto has = [&](int32_t column) {
    for (int32_t i = 0; i < def.num_inputs; ++i)
      if (!(launch.inputs[i].tensors[0].dtype == def.inputs[i]->dtypes[column])) return false;
    return true;
  };
  for (int32_t column = 0; column < def.num_columns; ++column)
    if (has(column)) return column;
  return -1;
}

constexpr ShapeView kUnknown = {-1, nullptr};

// The shape of an output; kUnknown where the general way must find it.
ShapeView OutputShape(const Launch& launch, int32_t o, const Plan& plan, const Bindings& bindings,
                      Arena& arena) {
  const OpwrightShapeRule& rule = *launch.def->shape_rules[o];
  if (rule.kind == kOpwrightShapeSame || rule.kind == kOpwrightShapeBroadcast) {
    if (rule.num_args == 0) return kUnknown;
    const auto has_shape_of = [&](const OpwrightTensor& first) {
      for (int32_t a = 1; a < rule.num_args; ++a) {
        const OpwrightTensor& t = launch.inputs[rule.args[a]].tensors[0];
        if (!IsSameShape(t.ndim, t.shape, first.ndim, first.shape)) return false;
      }
      return true;
    };
    const OpwrightTensor& first = launch.inputs[rule.args[0]].tensors[0];
    if (has_shape_of(first)) return {first.ndim, first.shape};
    // The kernel is to get its inputs expanded.
    if (rule.kind == kOpwrightShapeSame || launch.entry->kernel->takes_expanded) return kUnknown;
  } else if (rule.kind != kOpwrightShapeDims) {
    return kUnknown;
  }
  Expected<ShapeView> shape =
      InferOutputShape(*launch.def, o, 0, launch.inputs, plan.attrs, bindings, nullptr, arena);
  return shape.ok() ? *shape : kUnknown;
}

bool AreApart(const ByteRange& range, const OpwrightArgument& argument) {
  const ByteRange other = PlainBytes(argument.tensors[0]);
  return range.end <= other.begin || other.end <= range.begin;
}

}  // namespace

bool MakePlainPlan(const Launch& launch, Arena& arena, Plan* plan) {
  const OpwrightOpDef& def = *launch.def;
  if (launch.roles != nullptr || launch.num_inputs != def.num_inputs || def.num_mutates > 0)
    return false;
  Bindings bindings(def, arena);
  for (int32_t i = 0; i < def.num_inputs; ++i) {
    const OpwrightParamDef& param = *def.inputs[i];
    const OpwrightArgument& argument = launch.inputs[i];
    if (argument.count != 1 || argument.tensors == nullptr || param.kind == kOpwrightDynamic ||
        !param.nd_format || !IsPlain(argument.tensors[0]) ||
        !bindings.Take(param, argument.tensors[0]))
      return false;
  }
  plan->column = ExactColumn(launch);
  if (plan->column < 0) return false;
  if (def.num_attrs > 0 || launch.num_attrs > 0) {
    Expected<const OpwrightAttr*> attrs = ResolveAttrs(def, launch.attrs, launch.num_attrs, arena);
    if (!attrs.ok()) return false;
    plan->attrs = *attrs;
  }
  plan->outputs = arena.Make<InferredOutput>(def.num_outputs);
  ShapeView* const shapes = arena.Make<ShapeView>(def.num_outputs);
  for (int32_t o = 0; o < def.num_outputs; ++o) {
    if (def.outputs[o]->kind != kOpwrightRequired) return false;
    shapes[o] = OutputShape(launch, o, *plan, bindings, arena);
    if (shapes[o].ndim < 0 || !bindings.TakeOutput(*def.outputs[o], shapes[o])) return false;
    plan->outputs[o] = {1, &shapes[o], def.outputs[o]->dtypes[plan->column]};
  }
  return true;
}

bool AreOutputsPlain(const Launch& launch, const Plan& plan) {
  const OpwrightOpDef& def = *launch.def;
  for (int32_t o = 0; o < def.num_outputs; ++o) {
    const OpwrightArgument& argument = launch.outputs[o];
    if (argument.count != 1 || argument.tensors == nullptr || !def.outputs[o]->nd_format)
      return false;
    const OpwrightTensor& t = argument.tensors[0];
    const ShapeView& shape = plan.outputs[o].shapes[0];
    if (!IsPlain(t) || !(t.dtype == plan.outputs[o].dtype) ||
        !IsSameShape(t.ndim, t.shape, shape.ndim, shape.dims))
      return false;
    const ByteRange range = PlainBytes(t);
    for (int32_t i = 0; i < def.num_inputs; ++i)
      if (!AreApart(range, launch.inputs[i])) return false;
    for (int32_t other = 0; other < o; ++other)
      if (!AreApart(range, launch.outputs[other])) return false;
  }
  return true;
}

}  // namespace opwright

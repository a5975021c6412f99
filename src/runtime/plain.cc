// SPDX-License-Identifier: Apache-2.0
#include "runtime/plain.h"

#include <algorithm>

#include "runtime/dtype.h"
#include "runtime/strided.h"

namespace opwright {
namespace {

// One tensor, given, where the shape list asks for nothing but a rank.
bool IsFree(const OpwrightParamDef& param, const OpwrightArgument& argument) {
  if (argument.count != 1 || argument.tensors == nullptr || param.kind == kOpwrightDynamic ||
      !param.nd_format)
    return false;
  const int32_t ndim = argument.tensors[0].ndim;
  if (param.leading_any ? ndim < param.num_dims : ndim != param.num_dims) return false;
  return std::all_of(param.dims, param.dims + param.num_dims,
                     [](int64_t dim) { return dim == -1; });
}

// Row-major and aligned, on the CPU, with the shape of `like`.
bool IsPlain(const OpwrightTensor& t, const OpwrightTensor& like) {
  if (t.device_type != 1 || t.data == nullptr ||
      !IsSameShape(t.ndim, t.shape, like.ndim, like.shape))
    return false;
  const auto alignment = static_cast<uintptr_t>(std::min<int64_t>(ItemSize(t.dtype), 8));
  return HasDenseStrides(t) && (reinterpret_cast<uintptr_t>(DataOf(t)) & (alignment - 1)) == 0;
}

bool HasColumn(const Launch& launch, int32_t column) {
  const OpwrightOpDef& def = *launch.def;
  for (int32_t i = 0; i < def.num_inputs; ++i)
    if (!(launch.inputs[i].tensors[0].dtype == def.inputs[i]->dtypes[column])) return false;
  return true;
}

bool Apart(const OpwrightTensor& a, const OpwrightTensor& b, int64_t n) {
  const char* const a_begin = DataOf(a);
  const char* const b_begin = DataOf(b);
  return a_begin + n * ItemSize(a.dtype) <= b_begin || b_begin + n * ItemSize(b.dtype) <= a_begin;
}

}  // namespace

int32_t PlainColumn(const Launch& launch) {
  const OpwrightOpDef& def = *launch.def;
  // First: a call that leaves its outputs to the dispatcher goes the long way whatever the rest is.
  for (int32_t o = 0; o < def.num_outputs; ++o)
    if (launch.outputs[o].count != 1 || launch.outputs[o].tensors == nullptr) return -1;
  const bool simple = launch.roles == nullptr && launch.num_inputs == def.num_inputs &&
                      def.num_inputs > 0 && def.num_mutates == 0 && def.num_attrs == 0 &&
                      launch.num_attrs == 0 && !launch.entry->kernel->takes_expanded;
  if (!simple || launch.inputs[0].count != 1 || launch.inputs[0].tensors == nullptr) return -1;
  const OpwrightTensor& first = launch.inputs[0].tensors[0];
  if (first.ndim < 0 || first.ndim > OPWRIGHT_MAX_RANK || !IsPossibleShape(first.ndim, first.shape))
    return -1;
  const int64_t n = NumElements(first);
  if (n == 0) return -1;
  for (int32_t i = 0; i < def.num_inputs; ++i)
    if (!IsFree(*def.inputs[i], launch.inputs[i]) || !IsPlain(launch.inputs[i].tensors[0], first))
      return -1;

  int32_t column = 0;
  while (column < def.num_columns && !HasColumn(launch, column)) ++column;
  if (column == def.num_columns) return -1;

  for (int32_t o = 0; o < def.num_outputs; ++o) {
    // Inputs of one shape are that of every output whose rule is about shapes of inputs.
    const int32_t rule = def.shape_rules[o]->kind;
    if (rule != kOpwrightShapeSame && rule != kOpwrightShapeBroadcast) return -1;
    const OpwrightArgument& output = launch.outputs[o];
    if (!IsFree(*def.outputs[o], output)) return -1;
    const OpwrightTensor& t = output.tensors[0];
    if (!IsPlain(t, first) || !(t.dtype == def.outputs[o]->dtypes[column])) return -1;
    for (int32_t i = 0; i < def.num_inputs; ++i)
      if (!Apart(t, launch.inputs[i].tensors[0], n)) return -1;
    for (int32_t other = 0; other < o; ++other)
      if (!Apart(t, launch.outputs[other].tensors[0], n)) return -1;
  }
  return column;
}

}  // namespace opwright

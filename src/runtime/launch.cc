// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch.h"

#include <algorithm>

#include "base/text.h"
#include "runtime/plain.h"
#include "runtime/plan.h"
#include "runtime/staging.h"
#include "runtime/strided.h"

namespace opwright {
namespace {

bool AllEmpty(const OpwrightArgument* outputs, int32_t n) {
  for (int32_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < outputs[i].count; ++k)
      if (NumElements(outputs[i].tensors[k]) > 0) return false;
  return true;
}

// The kernel on tensors that are ready for it.
Status Compute(const Launch& launch, int32_t column, const OpwrightAttr* attrs,
               const OpwrightArgument* inputs, const OpwrightArgument* outputs, Arena& arena) {
  Frame frame{launch, arena};
  OpwrightCall call = MakeCall(launch, attrs, &frame);
  call.column = column;
  call.inputs = inputs;
  call.outputs = outputs;
  if (OpwrightError* error = launch.entry->compute(launch.entry->kernel, launch.instance, &call))
    return KernelFailed(launch, error, frame);
  return {};
}

}  // namespace

Status Run(const Launch& launch) {
  if (launch.num_outputs != launch.def->num_outputs)
    return MakeError("CL001", StrCat(launch.def->name, ": ", Count(launch.num_outputs, "output"),
                                     " given, the metadef lists ", launch.def->num_outputs));
  Arena arena(launch.host);
  Plan plan;
  const bool plain = MakePlainPlan(launch, arena, &plan);
  const auto compute_plain = [&] {
    return Compute(launch, plan.column, plan.attrs, launch.inputs, launch.outputs, arena);
  };
  if (plain && AreOutputsPlain(launch, plan)) return compute_plain();
  if (!plain) OPWRIGHT_RETURN_IF_ERROR(MakePlan(launch, arena, &plan));
  OPWRIGHT_RETURN_IF_ERROR(ProvideOutputs(launch, plan, arena));
  if (AllEmpty(launch.outputs, launch.num_outputs)) return {};
  if (plain && AreOutputsPlain(launch, plan)) return compute_plain();
  Staging staging(launch, plan, arena);
  OPWRIGHT_RETURN_IF_ERROR(staging.Prepare());
  OPWRIGHT_RETURN_IF_ERROR(
      Compute(launch, plan.column, plan.attrs, staging.inputs(), staging.outputs(), arena));
  staging.Finish();
  return {};
}

Status Infer(const Launch& launch, InferredOutput* result, Arena& arena) {
  Plan plan;
  OPWRIGHT_RETURN_IF_ERROR(MakePlan(launch, arena, &plan));
  std::copy(plan.outputs, plan.outputs + launch.def->num_outputs, result);
  return {};
}

OpwrightTensor ShapeOnlyTensor(OpwrightDType dtype, int32_t ndim, int64_t* shape) {
  static char never_read;  // only an empty tensor has no data
  OpwrightTensor tensor = {};
  tensor.data = &never_read;
  tensor.device_type = 1;
  tensor.ndim = ndim;
  tensor.dtype = dtype;
  tensor.shape = shape;
  return tensor;
}

}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch.h"

#include <algorithm>

#include "base/text.h"
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

}  // namespace

Status Run(const Launch& launch) {
  if (launch.num_outputs != launch.def->num_outputs)
    return MakeError("CL001", StrCat(launch.def->name, ": ", Count(launch.num_outputs, "output"),
                                     " given, the metadef lists ", launch.def->num_outputs));
  Arena arena(launch.host);
  Plan plan;
  OPWRIGHT_RETURN_IF_ERROR(MakePlan(launch, arena, &plan));
  OPWRIGHT_RETURN_IF_ERROR(ProvideOutputs(launch, plan, arena));
  if (AllEmpty(launch.outputs, launch.num_outputs)) return {};
  Staging staging(launch, plan, arena);
  OPWRIGHT_RETURN_IF_ERROR(staging.Prepare());
  Frame frame{launch, arena};
  OpwrightCall call = MakeCall(launch, plan.attrs, &frame);
  call.column = plan.column;
  call.inputs = staging.inputs();
  call.outputs = staging.outputs();
  if (OpwrightError* error = launch.entry->compute(launch.entry->kernel, launch.instance, &call))
    return KernelFailed(launch, error, frame);
  staging.Finish();
  return {};
}

Status Infer(const Launch& launch, InferredOutput* result, Arena& arena) {
  Plan plan;
  OPWRIGHT_RETURN_IF_ERROR(MakePlan(launch, arena, &plan));
  std::copy(plan.outputs, plan.outputs + launch.def->num_outputs, result);
  return {};
}

}  // namespace opwright

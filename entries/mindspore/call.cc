// SPDX-License-Identifier: Apache-2.0
//
// What MindSpore's ahead-of-time loader finds in an operator library: a function by the operator's
// name and another one that infers shapes.
#include "entries/instances.h"
#include "entries/mindspore/arguments.h"
#include "entries/mindspore/attrs.h"
#include "entries/mindspore/shapes.h"
#include "entries/mindspore/throwing.h"
#include "opwright/stub.h"
#include "runtime/launch.h"

namespace opwright::entries {
namespace {

const OpwrightOpDef& DefOf(int32_t index) { return *opwright_stub.operators[index].entry->def; }

// What every call of one operator has.
opwright::Status Prepare(int32_t index, const OpwrightAttr* attrs, Launch* launch) {
  Expected<void*> instance = KernelInstance(index);
  if (!instance.ok()) return instance.TakeError();
  launch->entry = opwright_stub.operators[index].entry;
  launch->def = &DefOf(index);
  launch->instance = *instance;
  launch->num_inputs = launch->def->num_inputs;
  launch->attrs = attrs;
  launch->num_attrs = launch->def->num_attrs;
  return {};
}

opwright::Status InferKnownShapes(void* context, const OpwrightArgument* inputs,
                                  const OpwrightAttr* attrs, InferredOutput* result, Arena& arena) {
  Launch launch;
  OPWRIGHT_RETURN_IF_ERROR(Prepare(*static_cast<const int32_t*>(context), attrs, &launch));
  launch.inputs = inputs;
  return Infer(launch, result, arena);
}

opwright::Status Call(int32_t index, const OpwrightAotCall& call) {
  const OpwrightOpDef& def = DefOf(index);
  Arena arena(nullptr);
  MindSporeArguments arguments(def, call, arena);
  OPWRIGHT_RETURN_IF_ERROR(arguments.TakeCall());
  ExtraReader reader(call.extra);
  Launch launch;
  OPWRIGHT_RETURN_IF_ERROR(Prepare(index, ReadMindSporeAttrs(def, reader, arena), &launch));
  launch.inputs = arguments.inputs();
  launch.outputs = arguments.outputs();
  launch.num_outputs = def.num_outputs;
  return Run(launch);
}

}  // namespace
}  // namespace opwright::entries

extern "C" {

int opwright_mindspore_call(int32_t index, const OpwrightAotCall* call) {
  return opwright::entries::ThrowIfError(opwright::entries::Call(index, *call));
}

OpwrightVector opwright_mindspore_infer(int32_t index, int* ndims, int64_t** shapes, void* extra) {
  const OpwrightOpDef& def = opwright::entries::DefOf(index);
  return opwright::entries::InferForMindSpore(def, opwright::entries::NumInputsSurelyGiven(def),
                                              ndims, shapes, extra,
                                              &opwright::entries::InferKnownShapes, &index);
}

}  // extern "C"

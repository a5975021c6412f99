// SPDX-License-Identifier: Apache-2.0
#include "runtime/plan.h"

#include <algorithm>
#include <cstring>

#include "base/dtype.h"
#include "base/dtype_name.h"
#include "base/text.h"
#include "runtime/attrs.h"
#include "runtime/c_error.h"
#include "runtime/signature.h"
#include "runtime/strided.h"

namespace opwright {
namespace {

void Fail(void* frame_pointer, const char* message) {
  auto* frame = static_cast<Frame*>(frame_pointer);
  if (frame->message != nullptr) return;
  const size_t size = strlen(message) + 1;
  auto* copy = static_cast<char*>(frame->arena.Large(size));
  if (copy != nullptr) frame->message = static_cast<char*>(memcpy(copy, message, size));
}

void* Scratch(void* frame, size_t bytes) { return static_cast<Frame*>(frame)->arena.Large(bytes); }

void SetShape(void* frame_pointer, int32_t output, int32_t ndim, const int64_t* shape) {
  auto* frame = static_cast<Frame*>(frame_pointer);
  if (frame->inferred == nullptr || output < 0 || output >= frame->launch.def->num_outputs ||
      ndim < 0)
    return;
  int64_t* dims = frame->arena.Make<int64_t>(ndim);
  std::copy(shape, shape + ndim, dims);
  frame->inferred[output] = {ndim, dims};
}

Error FormatError(const OpwrightOpDef& def, const char* what, const char* name) {
  return MakeError("CL009",
                   StrCat(def.name, ": ", what, " ", name,
                          " has a format other than ND in the metadef; no host gives such memory"));
}

// Why the tensor is none that a call may have.
Error TensorError(const OpwrightOpDef& def, const char* what, const char* name,
                  const OpwrightTensor& t) {
  if (t.device_type != 1)
    return MakeError("CL007",
                     StrCat(def.name, ": ", what, " ", name, " is on device type ", t.device_type,
                            ", this library runs on the CPU; copy it there first"));
  if (t.ndim < 0 || t.ndim > OPWRIGHT_MAX_RANK)
    return MakeError("CL004", StrCat(def.name, ": ", what, " ", name, " has rank ", t.ndim,
                                     ", at most ", OPWRIGHT_MAX_RANK, " is supported"));
  if (t.ndim > 0 && t.shape == nullptr)
    return MakeError(
        "CL004", StrCat(def.name, ": ", what, " ", name, " has rank ", t.ndim, " and no shape"));
  if (!IsPossibleShape(t.ndim, t.shape))
    return MakeError("CL004", StrCat(def.name, ": ", what, " ", name, " has the impossible shape ",
                                     ShapeText(t)));
  return MakeError("CL007", StrCat(def.name, ": ", what, " ", name, " has no memory"));
}

bool IsGood(const OpwrightTensor& t) {
  return t.device_type == 1 && t.ndim >= 0 && t.ndim <= OPWRIGHT_MAX_RANK &&
         (t.ndim == 0 || t.shape != nullptr) && IsPossibleShape(t.ndim, t.shape) &&
         (t.data != nullptr || NumElements(t) == 0);
}

Status CheckTensors(const OpwrightOpDef& def, const OpwrightParamDef* const* params,
                    const OpwrightArgument* arguments, int32_t n, const char* what) {
  for (int32_t i = 0; i < n; ++i) {
    if (!params[i]->nd_format) return FormatError(def, what, params[i]->name);
    for (int64_t k = 0; k < arguments[i].count && arguments[i].tensors != nullptr; ++k)
      if (!IsGood(arguments[i].tensors[k]))
        return TensorError(def, what, params[i]->name, arguments[i].tensors[k]);
  }
  return {};
}

Error ListError(const OpwrightOpDef& def, int32_t output, const ShapeView& shape) {
  const OpwrightParamDef& param = *def.outputs[output];
  return MakeError("CL022",
                   StrCat(def.name, ": the shape of output ", param.name, " by ",
                          def.shape_rules[output]->text, " is ", ShapeText(shape.ndim, shape.dims),
                          ", its shape list says ", PatternText(def, param), AnyRankHint(param)));
}

// Asks the kernel for the shapes of the outputs whose rule is "kernel".
Status InferByKernel(const Launch& launch, const OpwrightAttr* attrs, Bindings& bindings,
                     ShapeView* shapes, Arena& arena) {
  const OpwrightOpDef& def = *launch.def;
  if (launch.entry->kernel->infer_shape == nullptr)
    return MakeError(
        "CL005", StrCat(def.name, ": shape_rule is \"kernel\" and the kernel has no InferShape"));
  Frame frame{launch, arena, nullptr, shapes};
  const OpwrightCall call = MakeCall(launch, attrs, &frame);
  if (OpwrightError* error =
          launch.entry->infer_shape(launch.entry->kernel, launch.instance, &call))
    return KernelFailed(launch, error, frame);
  for (int32_t i = 0; i < def.num_outputs; ++i) {
    if (def.shape_rules[i]->kind != kOpwrightShapeKernel) continue;
    if (shapes[i].dims == nullptr)
      return MakeError("CL005", StrCat(def.name, ": InferShape did not set the shape of output ",
                                       def.outputs[i]->name));
    const ShapeView& shape = shapes[i];
    const bool possible =
        shape.ndim <= OPWRIGHT_MAX_RANK && IsPossibleShape(shape.ndim, shape.dims);
    if (possible && bindings.TakeOutput(*def.outputs[i], shape)) continue;
    return MakeError(
        "CL005", StrCat(def.name, ": InferShape gave output ", def.outputs[i]->name, " the shape ",
                        ShapeText(shape.ndim, shape.dims),
                        possible ? ", the metadef says " + PatternText(def, *def.outputs[i]) : ""));
  }
  return {};
}

// An optional output that the kernel gets as null: it needs no shape.
bool IsUnwanted(const Launch& launch, int32_t output) {
  if (launch.def->outputs[output]->kind != kOpwrightOptional || launch.outputs == nullptr)
    return false;
  const OpwrightArgument& given = launch.outputs[output];
  if (given.tensors != nullptr) return given.count == 0;
  return launch.allocator == nullptr || (launch.wanted != nullptr && !launch.wanted[output]);
}

// What the caller says of an output whose shapes only it knows, in words or by the output given.
ShapeList ShapesOfCaller(const Launch& launch, int32_t output, Arena& arena) {
  if (!IsOfCaller(*launch.def->shape_rules[output])) return {};
  if (launch.known_shapes != nullptr) return launch.known_shapes[output];
  if (launch.outputs == nullptr || output >= launch.num_outputs) return {};
  const OpwrightArgument& given = launch.outputs[output];
  return given.tensors == nullptr ? ShapeList() : ShapesOf(given, arena);
}

int64_t CountOf(const Launch& launch, int32_t output, const ShapeList& of_caller) {
  if (launch.def->outputs[output]->kind != kOpwrightDynamic) return 1;
  if (!IsOfCaller(*launch.def->shape_rules[output]))
    return DynamicOutputCount(*launch.def, output, launch.inputs);
  // One that nobody knows has an error to say so.
  return of_caller.shapes != nullptr ? of_caller.count : 1;
}

Status FitGivenOutput(const Launch& launch, int32_t i, const InferredOutput& inferred) {
  const OpwrightOpDef& def = *launch.def;
  const OpwrightParamDef& param = *def.outputs[i];
  const OpwrightArgument& given = launch.outputs[i];
  if (given.count != inferred.count)
    return MakeError("CL001", StrCat(def.name, ": output ", param.name, " has ", given.count,
                                     " tensors, ", inferred.count, " are due"));
  for (int64_t k = 0; k < given.count; ++k) {
    const OpwrightTensor& t = given.tensors[k];
    const ShapeView& shape = inferred.shapes[k];
    if (!IsSameShape(t.ndim, t.shape, shape.ndim, shape.dims))
      return MakeError("CL008",
                       StrCat(def.name, ": output ", param.name, " has shape ", ShapeText(t), ", ",
                              ShapeText(shape.ndim, shape.dims), " is due"));
    // A gradient is rounded once into the input's own dtype.
    const bool rounded = launch.roles != nullptr && IsFloat(t.dtype) && IsFloat(inferred.dtype);
    if (!(t.dtype == inferred.dtype) && !rounded)
      return MakeError("CL015",
                       StrCat(def.name, ": output ", param.name, " has dtype ", DTypeName(t.dtype),
                              ", ", DTypeName(inferred.dtype), " is due"));
  }
  return {};
}

}  // namespace

OpwrightCall MakeCall(const Launch& launch, const OpwrightAttr* attrs, Frame* frame) {
  OpwrightCall call = {};
  call.struct_size = sizeof call;
  call.def = launch.def;
  call.inputs = launch.inputs;
  call.attrs = attrs;
  call.num_inputs = launch.def->num_inputs;
  call.num_outputs = launch.def->num_outputs;
  call.num_attrs = launch.def->num_attrs;
  call.host = launch.host;
  call.frame = frame;
  call.fail = &Fail;
  call.scratch = &Scratch;
  call.set_shape = &SetShape;
  return call;
}

Error KernelFailed(const Launch& launch, OpwrightError* error, const Frame& frame) {
  Error own = FromC(error);
  if (frame.message != nullptr) own.message = ValidUtf8(frame.message);
  own.message = StrCat(launch.def->name, ": the kernel failed: ", own.message);
  return own;
}

Status MakePlan(const Launch& launch, Arena& arena, Plan* plan) {
  const OpwrightOpDef& def = *launch.def;
  Expected<int32_t> column = launch.roles != nullptr
                                 ? SelectGradientColumn(def, launch.roles, launch.inputs)
                                 : SelectColumn(def, launch.inputs, launch.num_inputs);
  if (!column.ok()) return column.TakeError();
  plan->column = *column;
  OPWRIGHT_RETURN_IF_ERROR(CheckTensors(def, def.inputs, launch.inputs, def.num_inputs, "input"));
  Expected<const OpwrightAttr*> attrs = ResolveAttrs(def, launch.attrs, launch.num_attrs, arena);
  if (!attrs.ok()) return attrs.TakeError();
  plan->attrs = *attrs;
  Expected<Bindings> bindings = BindShapes(def, launch.inputs, arena);
  if (!bindings.ok()) return bindings.TakeError();

  plan->outputs = arena.Make<InferredOutput>(def.num_outputs);
  ShapeView* by_kernel = nullptr;
  for (int32_t i = 0; i < def.num_outputs; ++i) {
    InferredOutput& output = plan->outputs[i];
    output = {0, nullptr, def.outputs[i]->dtypes[plan->column]};
    if (IsUnwanted(launch, i)) continue;
    const ShapeList of_caller = ShapesOfCaller(launch, i, arena);
    output.count = CountOf(launch, i, of_caller);
    ShapeView* shapes = arena.Make<ShapeView>(output.count);
    output.shapes = shapes;
    if (def.shape_rules[i]->kind == kOpwrightShapeKernel) {
      if (by_kernel == nullptr) {
        by_kernel = arena.Make<ShapeView>(def.num_outputs);
        std::fill_n(by_kernel, def.num_outputs, ShapeView{});
        OPWRIGHT_RETURN_IF_ERROR(InferByKernel(launch, plan->attrs, *bindings, by_kernel, arena));
      }
      std::fill_n(shapes, output.count, by_kernel[i]);
      continue;
    }
    for (int64_t k = 0; k < output.count; ++k) {
      Expected<ShapeView> shape =
          InferOutputShape(def, i, k, launch.inputs, plan->attrs, *bindings,
                           k < of_caller.count ? &of_caller.shapes[k] : nullptr, arena);
      if (!shape.ok()) return shape.TakeError();
      shapes[k] = *shape;
      if (!bindings->TakeOutput(*def.outputs[i], *shape)) return ListError(def, i, *shape);
    }
  }
  return {};
}

Status ProvideOutputs(const Launch& launch, const Plan& plan, Arena& arena) {
  const OpwrightOpDef& def = *launch.def;
  OPWRIGHT_RETURN_IF_ERROR(
      CheckTensors(def, def.outputs, launch.outputs, def.num_outputs, "output"));
  for (int32_t i = 0; i < def.num_outputs; ++i) {
    OpwrightArgument& given = launch.outputs[i];
    const InferredOutput& inferred = plan.outputs[i];
    if (inferred.count == 0 && (given.tensors == nullptr || given.count == 0)) {
      given = {nullptr, 0};
    } else if (given.tensors != nullptr) {
      OPWRIGHT_RETURN_IF_ERROR(FitGivenOutput(launch, i, inferred));
    } else if (launch.allocator == nullptr) {
      return MakeError("CL001", StrCat(def.name, ": output ", def.outputs[i]->name,
                                       " is required and was not given"));
    } else {
      auto* tensors = arena.Make<OpwrightTensor>(inferred.count);
      for (int64_t k = 0; k < inferred.count; ++k)
        OPWRIGHT_RETURN_IF_ERROR(launch.allocator->Allocate(
            i, k, inferred.dtype, inferred.shapes[k].ndim, inferred.shapes[k].dims, &tensors[k]));
      given = {tensors, inferred.count};
    }
  }
  return {};
}

}  // namespace opwright

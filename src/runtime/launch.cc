// SPDX-License-Identifier: Apache-2.0
#include "runtime/launch.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "runtime/attrs.h"
#include "runtime/c_error.h"
#include "runtime/dtype.h"
#include "runtime/signature.h"
#include "runtime/strided.h"

namespace opwright {
namespace {

// What a kernel reaches through OpwrightCall::frame.
struct Frame {
  const Launch& launch;
  Arena& arena;
  char* message = nullptr;  // of fail(), in the arena
  ShapeView* inferred = nullptr;  // while shapes are inferred, one an output

  static void Fail(void* self_pointer, const char* message) {
    auto* self = static_cast<Frame*>(self_pointer);
    if (self->message != nullptr) return;
    const size_t size = strlen(message) + 1;
    auto* copy = static_cast<char*>(self->arena.Large(size));
    if (copy != nullptr) self->message = static_cast<char*>(memcpy(copy, message, size));
  }
  static void* Scratch(void* self, size_t bytes) { return static_cast<Frame*>(self)->arena.Large(bytes); }
  static void SetShape(void* self_pointer, int32_t output, int32_t ndim, const int64_t* shape) {
    auto* self = static_cast<Frame*>(self_pointer);
    if (self->inferred == nullptr || output < 0 || output >= self->launch.def->num_outputs || ndim < 0) return;
    int64_t* dims = self->arena.Make<int64_t>(ndim);
    std::copy(shape, shape + ndim, dims);
    self->inferred[output] = {ndim, dims};
  }
};

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
  call.fail = &Frame::Fail;
  call.scratch = &Frame::Scratch;
  call.set_shape = &Frame::SetShape;
  return call;
}

Error KernelFailed(const Launch& launch, OpwrightError* error, const Frame& frame) {
  Error own = FromC(error);
  if (frame.message != nullptr) own.message = frame.message;
  own.message = StrCat(launch.def->name, ": the kernel failed: ", own.message);
  return own;
}

Status CheckTensors(const OpwrightOpDef& def, const OpwrightParamDef* const* params, const OpwrightArgument* arguments,
                    int32_t n, const char* what) {
  for (int32_t i = 0; i < n; ++i) {
    if (!params[i]->nd_format)
      return MakeError("CL009", StrCat(def.name, ": ", what, " ", params[i]->name,
                                       " has a format other than ND in the metadef; no host gives such memory"));
    for (int64_t k = 0; k < arguments[i].count && arguments[i].tensors != nullptr; ++k) {
      const OpwrightTensor& t = arguments[i].tensors[k];
      if (t.device_type != 1)
        return MakeError("CL007", StrCat(def.name, ": ", what, " ", params[i]->name, " is on device type ",
                                         t.device_type, ", this library runs on the CPU; copy it there first"));
      if (t.ndim < 0 || t.ndim > OPWRIGHT_MAX_RANK)
        return MakeError("CL004", StrCat(def.name, ": ", what, " ", params[i]->name, " has rank ", t.ndim,
                                         ", at most ", OPWRIGHT_MAX_RANK, " is supported"));
      int64_t n_elements = 1;
      for (int32_t d = 0; d < t.ndim; ++d) {
        if (t.shape[d] < 0 || __builtin_mul_overflow(n_elements, std::max<int64_t>(t.shape[d], 1), &n_elements))
          return MakeError("CL004", StrCat(def.name, ": ", what, " ", params[i]->name, " has the impossible shape ",
                                           ShapeText(t)));
      }
      if (t.data == nullptr && NumElements(t) > 0)
        return MakeError("CL007", StrCat(def.name, ": ", what, " ", params[i]->name, " has no memory"));
    }
  }
  return {};
}

// Asks the kernel for the shapes of the outputs whose rule is "kernel".
Status InferByKernel(const Launch& launch, const OpwrightAttr* attrs, ShapeView* shapes, Arena& arena) {
  const OpwrightOpDef& def = *launch.def;
  if (launch.entry->kernel->infer_shape == nullptr)
    return MakeError("CL005", StrCat(def.name, ": shape_rule is \"kernel\" and the kernel has no InferShape"));
  Frame frame{launch, arena, nullptr, shapes};
  const OpwrightCall call = MakeCall(launch, attrs, &frame);
  if (OpwrightError* error = launch.entry->infer_shape(launch.entry->kernel, launch.instance, &call))
    return KernelFailed(launch, error, frame);
  for (int32_t i = 0; i < def.num_outputs; ++i) {
    if (def.shape_rules[i]->kind != kOpwrightShapeKernel) continue;
    if (shapes[i].dims == nullptr)
      return MakeError("CL005", StrCat(def.name, ": InferShape did not set the shape of output ", def.outputs[i]->name));
    const ShapeView& shape = shapes[i];
    if (shape.ndim > OPWRIGHT_MAX_RANK || std::any_of(shape.dims, shape.dims + shape.ndim, [](int64_t d) { return d < 0; }))
      return MakeError("CL005", StrCat(def.name, ": InferShape gave output ", def.outputs[i]->name, " the shape ",
                                       ShapeText(shape.ndim, shape.dims)));
  }
  return {};
}

// What a call is before any memory is touched.
struct Plan {
  int32_t column = 0;
  const OpwrightAttr* attrs = nullptr;
  InferredOutput* outputs = nullptr;
};

Expected<Plan> MakePlan(const Launch& launch, Arena& arena) {
  const OpwrightOpDef& def = *launch.def;
  Plan plan;
  Expected<int32_t> column = launch.roles != nullptr ? SelectGradientColumn(def, launch.roles, launch.inputs)
                                                     : SelectColumn(def, launch.inputs, launch.num_inputs);
  if (!column.ok()) return column.TakeError();
  plan.column = *column;
  OPWRIGHT_RETURN_IF_ERROR(CheckTensors(def, def.inputs, launch.inputs, def.num_inputs, "input"));
  Expected<const OpwrightAttr*> attrs = ResolveAttrs(def, launch.attrs, launch.num_attrs, arena);
  if (!attrs.ok()) return attrs.TakeError();
  plan.attrs = *attrs;
  Expected<Bindings> bindings = BindShapes(def, launch.inputs, arena);
  if (!bindings.ok()) return bindings.TakeError();

  plan.outputs = arena.Make<InferredOutput>(def.num_outputs);
  ShapeView* by_kernel = nullptr;
  for (int32_t i = 0; i < def.num_outputs; ++i) {
    InferredOutput& output = plan.outputs[i];
    output.dtype = def.outputs[i]->dtypes[plan.column];
    output.count = def.outputs[i]->kind == kOpwrightDynamic ? DynamicOutputCount(def, i, launch.inputs) : 1;
    ShapeView* shapes = arena.Make<ShapeView>(output.count);
    output.shapes = shapes;
    if (def.shape_rules[i]->kind == kOpwrightShapeKernel) {
      if (by_kernel == nullptr) {
        by_kernel = arena.Make<ShapeView>(def.num_outputs);
        std::fill_n(by_kernel, def.num_outputs, ShapeView{});
        OPWRIGHT_RETURN_IF_ERROR(InferByKernel(launch, plan.attrs, by_kernel, arena));
      }
      std::fill_n(shapes, output.count, by_kernel[i]);
      continue;
    }
    const OpwrightShapeRule& rule = *def.shape_rules[i];
    if (launch.known_shapes != nullptr && rule.kind == kOpwrightShapeForward && rule.num_args == 0) {
      std::fill_n(shapes, output.count, launch.known_shapes[i]);
      continue;
    }
    const OpwrightArgument* given = launch.outputs != nullptr ? &launch.outputs[i] : nullptr;
    for (int64_t k = 0; k < output.count; ++k) {
      const bool has = given != nullptr && given->tensors != nullptr && k < given->count;
      Expected<ShapeView> shape = InferOutputShape(def, i, k, launch.inputs, plan.attrs, *bindings,
                                                   has ? &given->tensors[k] : nullptr, arena);
      if (!shape.ok()) return shape.TakeError();
      shapes[k] = *shape;
    }
  }
  return plan;
}

// The caller's outputs against the plan, or new ones.
Status ProvideOutputs(const Launch& launch, const Plan& plan, Arena& arena) {
  const OpwrightOpDef& def = *launch.def;
  if (launch.num_outputs != def.num_outputs)
    return MakeError("CL001", StrCat(def.name, ": ", Count(launch.num_outputs, "output"), " given, the metadef lists ",
                                     def.num_outputs));
  OPWRIGHT_RETURN_IF_ERROR(CheckTensors(def, def.outputs, launch.outputs, def.num_outputs, "output"));
  for (int32_t i = 0; i < def.num_outputs; ++i) {
    OpwrightArgument& given = launch.outputs[i];
    const InferredOutput& inferred = plan.outputs[i];
    const OpwrightParamDef& param = *def.outputs[i];
    if (given.tensors == nullptr) {
      const bool unwanted = param.kind == kOpwrightOptional && launch.wanted != nullptr && !launch.wanted[i];
      if (unwanted || (launch.allocator == nullptr && param.kind == kOpwrightOptional)) {
        given.count = 0;
        continue;
      }
      if (launch.allocator == nullptr)
        return MakeError("CL001", StrCat(def.name, ": output ", param.name, " is required and was not given"));
      auto* tensors = arena.Make<OpwrightTensor>(inferred.count);
      for (int64_t k = 0; k < inferred.count; ++k)
        OPWRIGHT_RETURN_IF_ERROR(launch.allocator->Allocate(i, k, inferred.dtype, inferred.shapes[k].ndim,
                                                            inferred.shapes[k].dims, &tensors[k]));
      given = {tensors, inferred.count};
      continue;
    }
    if (given.count == 0 && param.kind == kOpwrightOptional) continue;
    if (given.count != inferred.count)
      return MakeError("CL001", StrCat(def.name, ": output ", param.name, " has ", given.count, " tensors, ",
                                       inferred.count, " are due"));
    for (int64_t k = 0; k < given.count; ++k) {
      const OpwrightTensor& t = given.tensors[k];
      const ShapeView& shape = inferred.shapes[k];
      if (t.ndim != shape.ndim || !std::equal(t.shape, t.shape + t.ndim, shape.dims))
        return MakeError("CL008", StrCat(def.name, ": output ", param.name, " has shape ", ShapeText(t), ", ",
                                         ShapeText(shape.ndim, shape.dims), " is due"));
      // A gradient is rounded once into the input's own dtype.
      const bool rounded = launch.roles != nullptr && IsFloat(t.dtype) && IsFloat(inferred.dtype);
      if (!(t.dtype == inferred.dtype) && !rounded)
        return MakeError("CL008", StrCat(def.name, ": output ", param.name, " has dtype ", DTypeName(t.dtype), ", ",
                                         DTypeName(inferred.dtype), " is due"));
    }
  }
  return {};
}

bool Overlaps(const ByteRange& a, const ByteRange& b) {
  return a.begin < a.end && b.begin < b.end && a.begin < b.end && b.begin < a.end;
}

// Copies between the caller's tensors and those the kernel sees.
class Staging {
 public:
  Staging(const Launch& launch, const Plan& plan, Arena& arena) : launch_(launch), plan_(plan), arena_(arena) {}

  Status Prepare() {
    const OpwrightOpDef& def = *launch_.def;
    inputs_ = arena_.Make<OpwrightArgument>(def.num_inputs);
    outputs_ = arena_.Make<OpwrightArgument>(def.num_outputs);
    for (int32_t i = 0; i < def.num_inputs; ++i) OPWRIGHT_RETURN_IF_ERROR(PrepareInput(i));
    if (launch_.entry->kernel->takes_expanded) ExpandInputs();
    for (int32_t i = 0; i < def.num_outputs; ++i) OPWRIGHT_RETURN_IF_ERROR(PrepareOutput(i));
    return {};
  }

  // After the kernel: back into the caller's memory where a copy stood in for it.
  void Finish() {
    const OpwrightOpDef& def = *launch_.def;
    for (int32_t i = 0; i < def.num_outputs; ++i)
      for (int64_t k = 0; k < outputs_[i].count; ++k)
        if (DataOf(outputs_[i].tensors[k]) != DataOf(launch_.outputs[i].tensors[k]))
          CopyTensor(outputs_[i].tensors[k], launch_.outputs[i].tensors[k]);
    for (int32_t m = 0; m < def.num_mutates; ++m) {
      const int32_t i = def.mutates[m];
      for (int64_t k = 0; k < inputs_[i].count; ++k)
        if (DataOf(inputs_[i].tensors[k]) != DataOf(launch_.inputs[i].tensors[k]))
          CopyTensor(inputs_[i].tensors[k], launch_.inputs[i].tensors[k]);
    }
  }

  const OpwrightArgument* inputs() const { return inputs_; }
  const OpwrightArgument* outputs() const { return outputs_; }

 private:
  bool Mutates(int32_t input) const {
    const OpwrightOpDef& def = *launch_.def;
    return std::find(def.mutates, def.mutates + def.num_mutates, input) != def.mutates + def.num_mutates;
  }

  // An output that lies in an input's memory must not change what the kernel still reads.
  bool OverlapsOutput(const OpwrightTensor& t) const {
    const ByteRange range = BytesOf(t);
    for (int32_t i = 0; i < launch_.num_outputs; ++i)
      for (int64_t k = 0; k < launch_.outputs[i].count; ++k)
        if (Overlaps(range, BytesOf(launch_.outputs[i].tensors[k]))) return true;
    return false;
  }

  bool Aligned(const OpwrightTensor& t) const {
    return reinterpret_cast<uintptr_t>(DataOf(t)) % static_cast<uintptr_t>(std::min<int64_t>(ItemSize(t.dtype), 8)) == 0;
  }

  void FillStrides(OpwrightTensor* t) {
    if (t->strides != nullptr) return;
    t->strides = arena_.Make<int64_t>(t->ndim);
    DenseStrides(t->ndim, t->shape, t->strides);
  }

  // A dense tensor of the same shape in scratch.
  Status Stage(const OpwrightTensor& t, OpwrightDType dtype, OpwrightTensor* staged) {
    *staged = t;
    staged->dtype = dtype;
    staged->strides = nullptr;
    staged->byte_offset = 0;
    const int64_t bytes = NumElements(t) * ItemSize(dtype);
    staged->data = arena_.Large(static_cast<size_t>(bytes));
    if (staged->data == nullptr)
      return MakeError("CL010", StrCat(launch_.def->name, ": no memory for a dense copy of ", bytes, " bytes"));
    return {};
  }

  Status PrepareInput(int32_t i) {
    const OpwrightArgument& given = launch_.inputs[i];
    const OpwrightDType dtype = launch_.def->inputs[i]->dtypes[plan_.column];
    OpwrightTensor* tensors = arena_.Make<OpwrightTensor>(given.count);
    for (int64_t k = 0; k < given.count; ++k) {
      const OpwrightTensor& t = given.tensors[k];
      const bool as_it_is = t.dtype == dtype && IsDense(t) && Aligned(t) && (Mutates(i) || !OverlapsOutput(t));
      if (as_it_is) {
        tensors[k] = t;
      } else {
        if (Mutates(i) && !(t.dtype == dtype))
          return MakeError("CL008", StrCat(launch_.def->name, ": input ", launch_.def->inputs[i]->name,
                                           " is written by the operator and cannot be converted from ",
                                           DTypeName(t.dtype), " to ", DTypeName(dtype)));
        OPWRIGHT_RETURN_IF_ERROR(Stage(t, dtype, &tensors[k]));
        CopyTensor(t, tensors[k]);
      }
      FillStrides(&tensors[k]);
    }
    inputs_[i] = {tensors, given.count};
    return {};
  }

  Status PrepareOutput(int32_t i) {
    const OpwrightArgument& given = launch_.outputs[i];
    const OpwrightDType dtype = plan_.outputs[i].dtype;
    OpwrightTensor* tensors = arena_.Make<OpwrightTensor>(given.count);
    for (int64_t k = 0; k < given.count; ++k) {
      const OpwrightTensor& t = given.tensors[k];
      if (t.dtype == dtype && IsDense(t) && Aligned(t) && !OverlapsOtherOutput(i, k)) {
        tensors[k] = t;
      } else {
        OPWRIGHT_RETURN_IF_ERROR(Stage(t, dtype, &tensors[k]));
      }
      FillStrides(&tensors[k]);
    }
    outputs_[i] = {tensors, given.count};
    return {};
  }

  bool OverlapsOtherOutput(int32_t output, int64_t item) const {
    const ByteRange range = BytesOf(launch_.outputs[output].tensors[item]);
    for (int32_t i = 0; i <= output; ++i) {
      const int64_t end = i == output ? item : launch_.outputs[i].count;
      for (int64_t k = 0; k < end; ++k)
        if (Overlaps(range, BytesOf(launch_.outputs[i].tensors[k]))) return true;
    }
    return false;
  }

  // The inputs named in a broadcast(...) rule, seen in its shape.
  void ExpandInputs() {
    const OpwrightOpDef& def = *launch_.def;
    for (int32_t o = 0; o < def.num_outputs; ++o) {
      const OpwrightShapeRule& rule = *def.shape_rules[o];
      if (rule.kind != kOpwrightShapeBroadcast || plan_.outputs[o].count != 1) continue;
      for (int32_t a = 0; a < rule.num_args; ++a) {
        const OpwrightArgument& argument = inputs_[rule.args[a]];
        for (int64_t k = 0; k < argument.count; ++k) Expand(plan_.outputs[o].shapes[0], &argument.tensors[k]);
      }
    }
  }

  void Expand(const ShapeView& shape, OpwrightTensor* t) {
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

  const Launch& launch_;
  const Plan& plan_;
  Arena& arena_;
  OpwrightArgument* inputs_ = nullptr;
  OpwrightArgument* outputs_ = nullptr;
};

bool AllEmpty(const OpwrightArgument* outputs, int32_t n) {
  for (int32_t i = 0; i < n; ++i)
    for (int64_t k = 0; k < outputs[i].count; ++k)
      if (NumElements(outputs[i].tensors[k]) > 0) return false;
  return true;
}

}  // namespace

Status Run(const Launch& launch) {
  Arena arena(launch.host);
  Expected<Plan> plan = MakePlan(launch, arena);
  if (!plan.ok()) return plan.TakeError();
  OPWRIGHT_RETURN_IF_ERROR(ProvideOutputs(launch, *plan, arena));
  if (AllEmpty(launch.outputs, launch.num_outputs)) return {};
  Staging staging(launch, *plan, arena);
  OPWRIGHT_RETURN_IF_ERROR(staging.Prepare());
  Frame frame{launch, arena};
  OpwrightCall call = MakeCall(launch, plan->attrs, &frame);
  call.column = plan->column;
  call.inputs = staging.inputs();
  call.outputs = staging.outputs();
  if (OpwrightError* error = launch.entry->compute(launch.entry->kernel, launch.instance, &call))
    return KernelFailed(launch, error, frame);
  staging.Finish();
  return {};
}

Status Infer(const Launch& launch, InferredOutput* result, Arena& arena) {
  Expected<Plan> plan = MakePlan(launch, arena);
  if (!plan.ok()) return plan.TakeError();
  std::copy(plan->outputs, plan->outputs + launch.def->num_outputs, result);
  return {};
}

}  // namespace opwright

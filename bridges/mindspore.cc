// SPDX-License-Identifier: Apache-2.0
//
// libopwright_mindspore.so: the operators of this process for Opwright's own adapter, which names
// them by a token. Unlike the functions in an operator library it knows metadefs and gradients that
// were bound after the build, and calls the gradient whole.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "base/dtype.h"
#include "base/dtype_name.h"
#include "base/text.h"
#include "entries/mindspore/arguments.h"
#include "entries/mindspore/attrs.h"
#include "entries/mindspore/shapes.h"
#include "entries/mindspore/throwing.h"
#include "registry/tokens.h"
#include "runtime/strided.h"
#include "runtime/sum_to.h"

namespace opwright::entries {
namespace {

constexpr const char* kToken = "opwright_token";

std::shared_ptr<Operator> OperatorOf(const ExtraReader& reader) {
  std::shared_ptr<Operator> op = FindByToken(reader.Int(kToken));
  if (op != nullptr) return op;
  throw std::runtime_error(
      "the operator of this graph is not loaded in this process; load its library with "
      "opwright.load before the graph runs, and if the graph is of MindSpore's compile cache "
      "(MS_COMPILER_CACHE_ENABLE) and the library was rebuilt, delete that cache's folder [LD013]");
}

opwright::Status Call(Operator& op, ExtraReader& reader, const OpwrightAotCall& call) {
  Arena arena(nullptr);
  MindSporeArguments given(op.def(), call, arena);
  OPWRIGHT_RETURN_IF_ERROR(given.TakeCall());
  CallArguments arguments;
  arguments.inputs = given.inputs();
  arguments.num_inputs = op.def().num_inputs;
  arguments.outputs = given.outputs();
  arguments.num_outputs = op.def().num_outputs;
  arguments.attrs = ReadMindSporeAttrs(op.def(), reader, arena);
  arguments.num_attrs = op.def().num_attrs;
  return op.Call(arguments);
}

opwright::Status InferKnownShapes(void* context, const OpwrightArgument* inputs,
                                  const OpwrightAttr* attrs, InferredOutput* result, Arena& arena) {
  auto& op = *static_cast<Operator*>(context);
  CallArguments arguments;
  arguments.inputs = inputs;
  arguments.num_inputs = op.def().num_inputs;
  arguments.attrs = attrs;
  arguments.num_attrs = op.def().num_attrs;
  return op.Infer(arguments, result, arena);
}

// Outputs that the backward operator does not take, as their shapes: gradients are held against
// them, and a graph need not keep them, nor run what makes them.
opwright::Status InferOutputs(Operator& op, const OpwrightArgument* inputs,
                              const OpwrightAttr* attrs, OpwrightArgument* outputs, Arena& arena) {
  const int32_t count = op.def().num_outputs;
  if (std::all_of(outputs, outputs + count, [](const auto& each) { return each.count > 0; }))
    return {};
  auto* inferred = arena.Make<InferredOutput>(count);
  OPWRIGHT_RETURN_IF_ERROR(InferKnownShapes(&op, inputs, attrs, inferred, arena));
  for (int32_t i = 0; i < count; ++i) {
    if (outputs[i].count > 0) continue;
    auto* tensors = arena.Make<OpwrightTensor>(inferred[i].count);
    for (int64_t k = 0; k < inferred[i].count; ++k) {
      const ShapeView& shape = inferred[i].shapes[k];
      tensors[k] = ShapeOnlyTensor(inferred[i].dtype, shape.ndim, const_cast<int64_t*>(shape.dims));
    }
    outputs[i] = {tensors, inferred[i].count};
  }
  return {};
}

opwright::Status Gradient(Operator& op, ExtraReader& reader, const OpwrightAotCall& call) {
  Arena arena(nullptr);
  MindSporeArguments given(op.def(), call, arena);
  OPWRIGHT_RETURN_IF_ERROR(given.TakeGradient(*op.gradient()));
  const OpwrightAttr* const attrs = ReadMindSporeAttrs(op.def(), reader, arena);
  OPWRIGHT_RETURN_IF_ERROR(InferOutputs(op, given.inputs(), attrs, given.outputs(), arena));
  return op.CallGradient(given.inputs(), given.outputs(), attrs, op.def().num_attrs,
                         given.output_grads(), given.input_grads());
}

// "OPERATOR: the bprop's gradient of input NAME"
std::string GradientText(ExtraReader& reader) {
  int64_t size = 0;
  const std::string op = reader.String("opwright_operator", &size);
  return StrCat(op, ": the bprop's gradient of input ", reader.String("opwright_input", &size));
}

// params: a gradient, an input, the result, which has the input's shape and dtype. What was unknown
// when the graph was compiled is judged here.
opwright::Status Reduce(ExtraReader& reader, const OpwrightAotCall& call) {
  if (call.num_params != 3)
    return MakeError("IN001", StrCat("MindSpore gave ", call.num_params,
                                     " tensors where a gradient, an input and a result are due"));
  OpwrightTensor t[3] = {};
  for (int k = 0; k < 3; ++k) {
    t[k].data = call.params[k];
    t[k].device_type = 1;
    t[k].ndim = call.ndims[k];
    t[k].shape = call.shapes[k];
    t[k].dtype = DTypeNamed(call.dtypes[k]);
  }
  const bool same_shape = IsSameShape(t[0].ndim, t[0].shape, t[1].ndim, t[1].shape);
  const bool known = t[0].dtype.bits != 0 && t[2].dtype.bits != 0;
  if (!same_shape && (reader.Int("opwright_sums") == 0 || !SumsTo(t[0], t[1])))
    return MakeError("GR005", StrCat(GradientText(reader), " has shape ", ShapeText(t[0]), ", ",
                                     ShapeText(t[1]), " is due: the input's own"));
  const bool floats = IsFloat(t[0].dtype) && IsFloat(t[2].dtype);
  if (same_shape && known && (floats || t[0].dtype == t[2].dtype)) {
    CopyTensor(t[0], t[2]);
    return {};
  }
  if (floats && SumTo(t[0], t[2])) return {};
  const bool is_complex =
      t[0].dtype.code == kOpwrightComplex || t[2].dtype.code == kOpwrightComplex;
  return MakeError(
      "GR006",
      StrCat(GradientText(reader), " is dtype ", call.dtypes[0], ", of an input of ",
             call.dtypes[2],
             is_complex ? "; complex gradients are not supported where they are summed or converted"
                        : "; a float tensor is due"));
}

template <class Body>
int WithOperator(const OpwrightAotCall& call, const Body& body) {
  ExtraReader reader(call.extra);
  const std::shared_ptr<Operator> op = OperatorOf(reader);
  return ThrowIfError(body(*op, reader, call));
}

}  // namespace
}  // namespace opwright::entries

using opwright::entries::ExtraReader;

#define OPWRIGHT_EXPORT extern "C" __attribute__((visibility("default")))

OPWRIGHT_EXPORT int opwright_call(int n, void** params, int* ndims, int64_t** shapes,
                                  const char** dtypes, void*, void* extra) {
  return opwright::entries::WithOperator({n, params, ndims, shapes, dtypes, extra},
                                         opwright::entries::Call);
}

OPWRIGHT_EXPORT OpwrightVector opwright_callInferShape(int* ndims, int64_t** shapes, void* extra) {
  const ExtraReader reader(extra);
  const auto op = opwright::entries::OperatorOf(reader);
  // Opwright's adapter has counted the inputs: all are there, None among them.
  return opwright::entries::InferForMindSpore(op->def(), op->def().num_inputs, ndims, shapes, extra,
                                              &opwright::entries::InferKnownShapes, op.get());
}

OPWRIGHT_EXPORT int opwright_gradient(int n, void** params, int* ndims, int64_t** shapes,
                                      const char** dtypes, void*, void* extra) {
  return opwright::entries::WithOperator({n, params, ndims, shapes, dtypes, extra},
                                         opwright::entries::Gradient);
}

OPWRIGHT_EXPORT int opwright_reduce(int n, void** params, int* ndims, int64_t** shapes,
                                    const char** dtypes, void*, void* extra) {
  ExtraReader reader(extra);
  return opwright::entries::ThrowIfError(
      opwright::entries::Reduce(reader, {n, params, ndims, shapes, dtypes, extra}));
}

OPWRIGHT_EXPORT OpwrightVector opwright_reduceInferShape(int* ndims, int64_t** shapes, void*) {
  return opwright::entries::ToMindSpore({{shapes[1], shapes[1] + ndims[1]}});
}

// The gradients have the shapes of their inputs.
OPWRIGHT_EXPORT OpwrightVector opwright_gradientInferShape(int* ndims, int64_t** shapes,
                                                           void* extra) {
  const ExtraReader reader(extra);
  const auto op = opwright::entries::OperatorOf(reader);
  const OpwrightGradient& gradient = *op->gradient();
  std::vector<opwright::PartialShape> result;
  for (int32_t i = 0; i < op->def().num_inputs; ++i)
    for (int32_t k = 0; k < gradient.num_outputs; ++k)
      if (gradient.outputs[k] == i) result.emplace_back(shapes[i], shapes[i] + ndims[i]);
  return opwright::entries::ToMindSpore(std::move(result));
}

// For outputs that have no elements.
OPWRIGHT_EXPORT int opwright_nothing(int, void**, int*, int64_t**, const char**, void*, void*) {
  return 0;
}

// The process, which is ending, ends with exit code 1.
OPWRIGHT_EXPORT void opwright_exit_with_failure() {
  atexit([] {
    fflush(nullptr);
    _exit(1);
  });
}

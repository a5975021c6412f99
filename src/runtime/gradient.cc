// SPDX-License-Identifier: Apache-2.0
#include "runtime/gradient.h"

#include <algorithm>
#include <cstring>

#include "base/dtype.h"
#include "base/text.h"
#include "runtime/attrs.h"
#include "runtime/strided.h"

namespace opwright {
namespace {

// A tensor shaped like `like` in scratch, dense; null data without memory.
OpwrightTensor ScratchLike(const OpwrightTensor& like, Arena& arena, bool zeros) {
  OpwrightTensor tensor = like;
  tensor.strides = nullptr;
  tensor.byte_offset = 0;
  const auto bytes = static_cast<size_t>(NumElements(like) * ItemSize(like.dtype));
  tensor.data = arena.Large(std::max<size_t>(bytes, 1));
  if (zeros && tensor.data != nullptr) memset(tensor.data, 0, bytes);
  return tensor;
}

Expected<OpwrightArgument> ScratchArgument(const OpwrightArgument& like, Arena& arena, bool zeros) {
  auto* tensors = arena.Make<OpwrightTensor>(like.count);
  for (int64_t k = 0; k < like.count; ++k) {
    tensors[k] = ScratchLike(like.tensors[k], arena, zeros);
    if (tensors[k].data == nullptr) return MakeError("CL010", "no memory for a gradient's scratch");
  }
  return OpwrightArgument{tensors, like.count};
}

// The forward attributes in the backward operator's order, by name.
const OpwrightAttr* BackwardAttrs(const GradientCall& call, const OpwrightAttr* forward,
                                  Arena& arena) {
  OpwrightAttr* attrs = arena.Make<OpwrightAttr>(call.backward->num_attrs);
  for (int32_t i = 0; i < call.backward->num_attrs; ++i) {
    attrs[i] = {};
    for (int32_t k = 0; k < call.forward->num_attrs; ++k)
      if (strcmp(call.backward->attrs[i]->name, call.forward->attrs[k]->name) == 0)
        attrs[i] = forward[k];
  }
  return attrs;
}

// A kernel takes it that a gradient is as large as its output, which no shape list says with [-2].
Status CheckGradient(const OpwrightOpDef& forward, int32_t output, const OpwrightArgument& made,
                     const OpwrightArgument& grad) {
  if (made.count == 0 || grad.count == 0) return {};
  const char* const name = forward.outputs[output]->name;
  if (grad.count != made.count)
    return MakeError("CL001", StrCat(forward.name, ": the gradient of output ", name, " has ",
                                     Count(grad.count, "tensor"), ", ", made.count, " are due"));
  for (int64_t k = 0; k < made.count; ++k) {
    const OpwrightTensor& due = made.tensors[k];
    const OpwrightTensor& given = grad.tensors[k];
    if (!IsSameShape(given.ndim, given.shape, due.ndim, due.shape))
      return MakeError("CL004",
                       StrCat(forward.name, ": the gradient of output ", name, " has shape ",
                              ShapeText(given), ", ", ShapeText(due), " is due: the output's own"));
  }
  return {};
}

// A gradient through an output that the backward operator does not take would be lost; what comes
// through one of integers or bools is none.
Status CheckNothingIsLost(const GradientCall& call, Arena& arena) {
  for (int32_t i = 0; i < call.forward->num_outputs; ++i) {
    if (TakesGradientOf(*call.gradient, i)) continue;
    for (int64_t k = 0; k < call.output_grads[i].count; ++k) {
      OpwrightTensor grad = call.output_grads[i].tensors[k];
      if (!IsFloat(grad.dtype) && grad.dtype.code != kOpwrightComplex) continue;
      if (!IsDense(grad)) {
        OpwrightTensor dense = ScratchLike(grad, arena, false);
        if (dense.data == nullptr) return MakeError("CL010", "no memory for a gradient's scratch");
        CopyTensor(grad, dense);
        grad = dense;
      }
      if (!IsZero(grad))
        return MakeError("GR023", LostGradientText(*call.forward, i, call.backward->name));
    }
  }
  return {};
}

}  // namespace

bool TakesGradientOf(const OpwrightGradient& gradient, int32_t output) {
  const auto takes = [output](const OpwrightRole& role) {
    return role.kind == kOpwrightRoleGrad && role.index == output;
  };
  return std::any_of(gradient.inputs, gradient.inputs + gradient.num_inputs, takes);
}

std::string LostGradientText(const OpwrightOpDef& forward, int32_t output, const char* backward) {
  const char* const name = forward.outputs[output]->name;
  return StrCat(forward.name, ": a gradient comes through output ", name, ", and the backward ",
                "operator ", backward, " takes none of it, so that it would be lost; give ",
                backward, " an input grad_", name, ", or stop the gradient where ", name,
                " is used (detach, stop_gradient)");
}

std::string MissingGradientText(const OpwrightOpDef& forward, int32_t input, const char* backward) {
  const char* const name = forward.inputs[input]->name;
  return StrCat(forward.name, ": the backward operator ", backward, " gives no gradient for input ",
                name, ", and one is asked for; give ", backward, " an output grad_", name,
                " (zeros where ", name, " is no variable), or stop the gradient at ", name,
                " (detach, stop_gradient)");
}

Status RunGradient(const GradientCall& call) {
  const OpwrightGradient& gradient = *call.gradient;
  const OpwrightOpDef& backward = *call.backward;
  Arena arena(call.host);

  for (int32_t i = 0; i < call.forward->num_outputs; ++i)
    OPWRIGHT_RETURN_IF_ERROR(
        CheckGradient(*call.forward, i, call.outputs[i], call.output_grads[i]));
  OPWRIGHT_RETURN_IF_ERROR(CheckNothingIsLost(call, arena));

  auto* inputs = arena.Make<OpwrightArgument>(gradient.num_inputs);
  for (int32_t i = 0; i < gradient.num_inputs; ++i) {
    const OpwrightRole role = gradient.inputs[i];
    if (role.kind == kOpwrightRoleInput) {
      inputs[i] = call.inputs[role.index];
    } else if (role.kind == kOpwrightRoleOutput) {
      inputs[i] = call.outputs[role.index];
    } else if (call.output_grads[role.index].count > 0 ||
               backward.inputs[i]->kind == kOpwrightOptional) {
      inputs[i] = call.output_grads[role.index];
    } else {
      Expected<OpwrightArgument> zeros = ScratchArgument(call.outputs[role.index], arena, true);
      if (!zeros.ok()) return zeros.TakeError();
      inputs[i] = *zeros;
    }
  }

  auto* outputs = arena.Make<OpwrightArgument>(gradient.num_outputs);
  auto* shapes = arena.Make<ShapeList>(gradient.num_outputs);
  for (int32_t i = 0; i < gradient.num_outputs; ++i) {
    const int32_t input = gradient.outputs[i];
    shapes[i] = ShapesOf(call.inputs[input], arena);
    outputs[i] = call.input_grads[input];
    if (outputs[i].count > 0 || backward.outputs[i]->kind == kOpwrightOptional) continue;
    Expected<OpwrightArgument> scratch = ScratchArgument(call.inputs[input], arena, false);
    if (!scratch.ok()) return scratch.TakeError();
    outputs[i] = *scratch;
  }
  for (int32_t i = 0; i < call.forward->num_inputs; ++i) {
    const int32_t* const end = gradient.outputs + gradient.num_outputs;
    if (call.input_grads[i].count > 0 && std::find(gradient.outputs, end, i) == end)
      return MakeError("GR002", MissingGradientText(*call.forward, i, backward.name));
  }

  Expected<const OpwrightAttr*> attrs =
      ResolveAttrs(*call.forward, call.attrs, call.num_attrs, arena);
  if (!attrs.ok()) return attrs.TakeError();
  Launch launch;
  launch.entry = call.entry;
  launch.def = call.backward;
  launch.instance = call.instance;
  launch.host = call.host;
  launch.inputs = inputs;
  launch.num_inputs = gradient.num_inputs;
  launch.outputs = outputs;
  launch.num_outputs = gradient.num_outputs;
  launch.attrs = BackwardAttrs(call, *attrs, arena);
  launch.num_attrs = backward.num_attrs;
  launch.known_shapes = shapes;
  launch.roles = gradient.inputs;
  return Run(launch);
}

}  // namespace opwright

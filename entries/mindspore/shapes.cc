// SPDX-License-Identifier: Apache-2.0
#include "entries/mindspore/shapes.h"

#include <algorithm>
#include <new>
#include <stdexcept>

#include "base/text.h"
#include "entries/mindspore/attrs.h"
#include "entries/mindspore/throwing.h"

namespace opwright::entries {
namespace {

template <class Vector>
OpwrightVector HandOver(Vector vector) {
  static_assert(sizeof(Vector) == sizeof(OpwrightVector));
  OpwrightVector handed;
  new (&handed) Vector(std::move(vector));  // the taker destroys it
  return handed;
}

bool IsKnown(const std::vector<PartialShape>& shapes) {
  return std::all_of(shapes.begin(), shapes.end(), [](const PartialShape& shape) {
    return std::all_of(shape.begin(), shape.end(), [](int64_t dim) { return dim >= 0; });
  });
}

// Inputs without data, of the first column: no shape rule asks for more. The first num_given ones.
const OpwrightArgument* ShapesOnly(const OpwrightOpDef& def, int32_t num_given, int* ndims,
                                   int64_t** shapes, Arena& arena) {
  auto* tensors = arena.Make<OpwrightTensor>(def.num_inputs);
  auto* inputs = arena.Make<OpwrightArgument>(def.num_inputs);
  std::fill_n(inputs, def.num_inputs, OpwrightArgument{});
  for (int32_t i = 0; i < num_given; ++i) {
    tensors[i] = ShapeOnlyTensor(def.inputs[i]->dtypes[0], ndims[i], shapes[i]);
    inputs[i] = {&tensors[i], 1};
  }
  return inputs;
}

}  // namespace

int32_t NumInputsSurelyGiven(const OpwrightOpDef& def) {
  int32_t count = def.num_inputs;
  while (count > 0 && def.inputs[count - 1]->kind == kOpwrightOptional) --count;
  return count;
}

OpwrightVector InferForMindSpore(const OpwrightOpDef& def, int32_t num_given, int* ndims,
                                 int64_t** shapes, void* extra, InferKnown infer, void* context) {
  std::vector<PartialShape> inputs;
  for (int32_t i = 0; i < def.num_inputs; ++i) {
    if (def.inputs[i]->kind == kOpwrightDynamic)
      throw std::runtime_error(
          StrCat(def.name, ": input ", def.inputs[i]->name,
                 " is a list; MindSpore cannot infer shapes with it: give out_shape [CL005]"));
    if (i < num_given) inputs.emplace_back(shapes[i], shapes[i] + ndims[i]);
  }
  Arena arena(nullptr);
  ExtraReader reader(extra);
  const OpwrightAttr* attrs = ReadMindSporeAttrs(def, reader, arena);
  const bool known = IsKnown(inputs);
  inputs.resize(static_cast<size_t>(def.num_inputs), PartialShape{-2});
  if (!known) return ToMindSpore(InferPartialShapes(def, inputs, attrs));

  auto* result = arena.Make<InferredOutput>(def.num_outputs);
  ThrowIfError(
      infer(context, ShapesOnly(def, num_given, ndims, shapes, arena), attrs, result, arena));
  if (num_given < def.num_inputs && !IsKnown(InferPartialShapes(def, inputs, attrs)))
    throw std::runtime_error(
        StrCat(def.name, ": MindSpore does not say whether the optional input ",
               def.inputs[num_given]->name,
               " is there, and the output's shape depends on it: give out_shape, or call the "
               "operator through opwright.mindspore [CL005]"));
  std::vector<PartialShape> outputs;
  for (int32_t i = 0; i < def.num_outputs; ++i) {
    const ShapeView& shape = result[i].shapes[0];
    outputs.emplace_back(shape.dims, shape.dims + shape.ndim);
  }
  return ToMindSpore(std::move(outputs));
}

OpwrightVector ToMindSpore(std::vector<PartialShape> shapes) {
  if (shapes.size() == 1) return HandOver(std::move(shapes[0]));
  return HandOver(std::move(shapes));
}

}  // namespace opwright::entries

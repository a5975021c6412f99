// SPDX-License-Identifier: Apache-2.0
//
// Shapes of a call: the inputs' checked against the metadef, the outputs' by its shape rules.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "opwright/c_api.h"
#include "runtime/arena.h"

namespace opwright {

struct ShapeView {
  int32_t ndim = 0;
  const int64_t* dims = nullptr;
};

// One shape for each tensor of an input or output.
struct ShapeList {
  int64_t count = 0;
  const ShapeView* shapes = nullptr;
};

ShapeList ShapesOf(const OpwrightArgument& argument, Arena& arena);

// Whose further dimensions "..." stands for in a rule: those of the first input that has dims too;
// where there is none, of the first input of any rank. Inputs come in their order.
struct LeadingInput {
  // Whether it is this one, as far as inputs have come.
  bool Take(const OpwrightParamDef& param) {
    const bool has_own_dims = param.num_dims > 0;
    if (!param.leading_any || has_dims || (!has_own_dims && bound)) return false;
    bound = true;
    has_dims = has_own_dims;
    return true;
  }

  bool bound = false;
  bool has_dims = false;
};

// What the symbols of the metadef stand for in one call.
struct Bindings {
  Bindings(const OpwrightOpDef& def, Arena& arena) : symbols(arena.Make<int64_t>(def.num_symbols)) {
    for (int32_t k = 0; k < def.num_symbols; ++k) symbols[k] = -1;
  }

  // Binds what the input's shape list names. False: the shape is not what the list says.
  bool Take(const OpwrightParamDef& param, const OpwrightTensor& t) {
    const int32_t lead = t.ndim - param.num_dims;
    if (lead < 0 || (lead > 0 && !param.leading_any)) return false;
    for (int32_t k = 0; k < param.num_dims; ++k)
      if (!TakeDim(param.dims[k], t.shape[lead + k])) return false;
    if (leading_input.Take(param)) leading = {lead, t.shape};
    return true;
  }
  // The same for an output, whose "..." binds nothing.
  bool TakeOutput(const OpwrightParamDef& param, const ShapeView& shape) {
    const int32_t lead = shape.ndim - param.num_dims;
    if (lead < 0 || (lead > 0 && !param.leading_any)) return false;
    for (int32_t k = 0; k < param.num_dims; ++k)
      if (!TakeDim(param.dims[k], shape.dims[lead + k])) return false;
    return true;
  }
  bool TakeDim(int64_t wanted, int64_t got) {
    if (wanted >= 0) return got == wanted;
    if (wanted == -1) return true;
    int64_t& symbol = symbols[-(wanted + 2)];
    if (symbol < 0) symbol = got;
    return symbol == got;
  }

  int64_t* symbols;  // -1: not bound
  ShapeView leading;  // of "..."
  LeadingInput leading_input;
};

// Checks every input's rank, fixed and named dimensions. CL004 with the shape and what was due.
Expected<Bindings> BindShapes(const OpwrightOpDef& def, const OpwrightArgument* inputs,
                              Arena& arena);

// Whether only a caller knows the shapes of the rule's output, those of a forward input.
bool IsOfCaller(const OpwrightShapeRule& rule);

// How many tensors a dynamic output has: as many as the dynamic input that its rule names, else as
// the first dynamic input.
int64_t DynamicOutputCount(const OpwrightOpDef& def, int32_t output,
                           const OpwrightArgument* inputs);

// The shape of tensor `item` of an output, by every rule but "kernel". of_caller: what IsOfCaller
// is about, null when the caller does not say. CL005 when the rule cannot be met, CL001 when
// the list that it names is shorter.
Expected<ShapeView> InferOutputShape(const OpwrightOpDef& def, int32_t output, int64_t item,
                                     const OpwrightArgument* inputs, const OpwrightAttr* attrs,
                                     const Bindings& bindings, const ShapeView* of_caller,
                                     Arena& arena);

// ["...", "n", -1] as the metadef has it. quote: around names.
std::string PatternText(const OpwrightOpDef& def, const OpwrightParamDef& param,
                        std::string_view quote = "\"");

// What a message adds where a shape is not of the param's list, and the list is [-1]; else "".
std::string_view AnyRankHint(const OpwrightParamDef& param);

// numpy's rule for two shapes; false when they do not fit. result may be a.
bool BroadcastShapes(const ShapeView& a, const ShapeView& b, ShapeView* result, Arena& arena);

}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
//
// One call of an operator, from any tensors to a kernel that sees dense ones of one dtype column:
// checks, column, shapes, copies, and the wall that no exception passes. Needs base and the
// public headers alone, so that libopwright.so and the entries of every operator library share it.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "opwright/c_api.h"
#include "runtime/arena.h"
#include "runtime/shape.h"

namespace opwright {

// Makes the outputs that the caller did not give.
class OutputAllocator {
 public:
  virtual ~OutputAllocator() = default;
  // Dense memory, 64-byte aligned where it can be. tensor->shape and strides must live as long as
  // it.
  virtual Status Allocate(int32_t output, int64_t item, OpwrightDType dtype, int32_t ndim,
                          const int64_t* shape, OpwrightTensor* tensor) = 0;
};

struct Launch {
  const OpwrightOperatorEntry* entry = nullptr;
  const OpwrightOpDef* def = nullptr;  // the library's own, or one bound later
  void* instance = nullptr;  // of the kernel
  const OpwrightHost* host = nullptr;
  const OpwrightArgument* inputs = nullptr;
  int32_t num_inputs = 0;
  // One for each output: what the caller gave. With an allocator, an output whose tensors are null
  // is made, unless it is optional and unwanted[i] is 0.
  OpwrightArgument* outputs = nullptr;
  int32_t num_outputs = 0;
  const OpwrightAttr* attrs = nullptr;
  int32_t num_attrs = 0;
  OutputAllocator* allocator = nullptr;
  const uint8_t* wanted = nullptr;  // one an output; null: all
  // One an output: the shapes where only the caller knows them, those of a forward input. Null:
  // none are.
  const ShapeList* known_shapes = nullptr;
  // Set for a call as the gradient of another operator: what each input is. It decides the column.
  const OpwrightRole* roles = nullptr;
};

// Runs the operator. On an error nothing that the caller gave has been written, unless the kernel
// itself failed half-way.
Status Run(const Launch& launch);

// The shapes and dtypes of the outputs, without running the kernel. result: one an output.
struct InferredOutput {
  int64_t count = 0;
  const ShapeView* shapes = nullptr;  // count of them, in the arena
  OpwrightDType dtype = {};
};
Status Infer(const Launch& launch, InferredOutput* result, Arena& arena);

// An input for Infer, which reads no data. The shape must live as long as it.
OpwrightTensor ShapeOnlyTensor(OpwrightDType dtype, int32_t ndim, int64_t* shape);

}  // namespace opwright

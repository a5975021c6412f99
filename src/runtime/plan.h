// SPDX-License-Identifier: Apache-2.0
//
// What a call is before any memory is touched: its column, its attributes, the shapes of its
// outputs; and the outputs that the caller gave, judged by it.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "opwright/c_api.h"
#include "runtime/arena.h"
#include "runtime/launch.h"

namespace opwright {

struct Plan {
  int32_t column = 0;
  const OpwrightAttr* attrs = nullptr;
  InferredOutput* outputs = nullptr;  // one an output; count 0 where it is not given and optional
};

// What a kernel reaches through OpwrightCall::frame.
struct Frame {
  const Launch& launch;
  Arena& arena;
  char* message = nullptr;  // of fail(), in the arena
  ShapeView* inferred = nullptr;  // while shapes are inferred, one an output
};

// Without inputs' copies, column and outputs: the caller fills them in.
OpwrightCall MakeCall(const Launch& launch, const OpwrightAttr* attrs, Frame* frame);

// The error of a kernel, in the operator's name. Takes `error` over.
Error KernelFailed(const Launch& launch, OpwrightError* error, const Frame& frame);

Status MakePlan(const Launch& launch, Arena& arena, Plan* plan);

// The caller's outputs against the plan, or new ones.
Status ProvideOutputs(const Launch& launch, const Plan& plan, Arena& arena);

}  // namespace opwright

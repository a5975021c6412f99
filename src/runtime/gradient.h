// SPDX-License-Identifier: Apache-2.0
//
// The backward operator called for its forward one: what it is given by the binding's roles, what
// is unused or unwanted, results in each input's own shape and dtype.
#pragma once

#include <string>

#include "base/error.h"
#include "opwright/c_api.h"
#include "runtime/launch.h"

namespace opwright {

struct GradientCall {
  const OpwrightOpDef* forward = nullptr;
  const OpwrightGradient* gradient = nullptr;  // of forward
  // The backward operator.
  const OpwrightOperatorEntry* entry = nullptr;
  const OpwrightOpDef* backward = nullptr;
  void* instance = nullptr;
  const OpwrightHost* host = nullptr;
  // The forward call, as it was: inputs and outputs with data.
  const OpwrightArgument* inputs = nullptr;
  const OpwrightArgument* outputs = nullptr;
  const OpwrightAttr* attrs = nullptr;
  int32_t num_attrs = 0;
  // One for each forward output; count 0: that output was not used.
  const OpwrightArgument* output_grads = nullptr;
  // One for each forward input: memory of the input's shape and dtype; count 0: not wanted.
  const OpwrightArgument* input_grads = nullptr;
};

// GR002: a gradient is wanted that the backward operator does not give. GR023: one that is not zero
// comes through an output that the backward operator takes none of.
Status RunGradient(const GradientCall& call);

// Whether the backward operator takes the gradient of the forward's output.
bool TakesGradientOf(const OpwrightGradient& gradient, int32_t output);

// The messages of GR002 and GR023, for adapters that see them before.
std::string MissingGradientText(const OpwrightOpDef& forward, int32_t input, const char* backward);
std::string LostGradientText(const OpwrightOpDef& forward, int32_t output, const char* backward);

}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
//
// The parameters of one ahead-of-time call of MindSpore as an operator's inputs and outputs.
// MindSpore hands all tensors over in one row, without names: inputs, then outputs; dense, on the
// CPU, aligned to 16 bytes; a 0-d tensor's shape is null, None is null with the dtype "none".
#pragma once

#include <cstdint>

#include "base/error.h"
#include "opwright/c_api.h"
#include "opwright/stub.h"
#include "runtime/arena.h"

namespace opwright::entries {

class MindSporeArguments {
 public:
  MindSporeArguments(const OpwrightOpDef& def, const OpwrightAotCall& call, Arena& arena)
      : def_(def), call_(call), arena_(arena) {}

  // Inputs and outputs of a call.
  opwright::Status TakeCall();
  // Of a call for the gradient: inputs, the outputs that the backward operator takes, a gradient
  // for each output; and as outputs of the call a gradient for each input that the binding lists,
  // in the inputs' order. Other outputs have no tensors.
  opwright::Status TakeGradient(const OpwrightGradient& gradient);

  const OpwrightArgument* inputs() const { return inputs_; }
  OpwrightArgument* outputs() const { return outputs_; }
  const OpwrightArgument* output_grads() const { return output_grads_; }
  const OpwrightArgument* input_grads() const { return input_grads_; }

 private:
  // A row of arguments of one kind; which[i] false: no parameter stands for it.
  struct Row {
    const OpwrightParamDef* const* params;
    int32_t size;
    const bool* which;  // null: all
    const char* what;
    OpwrightArgument* arguments;
  };

  opwright::Status Distribute(const Row* rows, int32_t num_rows);
  opwright::Status View(int32_t parameter, const char* what, const char* name,
                        OpwrightTensor* tensor);
  OpwrightArgument* Make(int32_t count);
  void TakeNumbersAsWeak(const OpwrightArgument* results);
  void ConvertNumbers();

  const OpwrightOpDef& def_;
  const OpwrightAotCall& call_;
  Arena& arena_;
  OpwrightArgument* inputs_ = nullptr;
  OpwrightArgument* outputs_ = nullptr;
  OpwrightArgument* output_grads_ = nullptr;
  OpwrightArgument* input_grads_ = nullptr;
};

}  // namespace opwright::entries

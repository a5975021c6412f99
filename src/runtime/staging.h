// SPDX-License-Identifier: Apache-2.0
//
// Between the caller's tensors and those that a kernel sees: dense, aligned, of the column's
// dtypes, inputs apart from outputs. Tensors that are so already are handed on as they are.
#pragma once

#include "base/error.h"
#include "opwright/c_api.h"
#include "runtime/arena.h"
#include "runtime/plan.h"
#include "runtime/strided.h"

namespace opwright {

// Whether the kernel writes this input.
bool Mutates(const OpwrightOpDef& def, int32_t input);

class Staging {
 public:
  Staging(const Launch& launch, const Plan& plan, Arena& arena)
      : launch_(launch), plan_(plan), arena_(arena) {}

  // After it inputs() and outputs() are what the kernel gets.
  Status Prepare();

  // After the kernel: back into the caller's memory where a copy stood in for it.
  void Finish() {
    if (must_copy_back_) CopyBack();
  }

  const OpwrightArgument* inputs() const { return inputs_; }
  const OpwrightArgument* outputs() const { return outputs_; }

 private:
  void MeasureWritten();
  bool OverlapsWritten(const OpwrightTensor& t) const;
  bool IsReady(const OpwrightArgument& given, OpwrightDType dtype) const;
  Status CheckApart() const;
  Status Stage(const OpwrightTensor& t, OpwrightDType dtype, OpwrightTensor* staged);
  Status CheckWeak(int32_t input, const OpwrightTensor& t, OpwrightDType dtype) const;
  Status CheckDistinct(const char* what, const char* name, const OpwrightTensor& t) const;
  Status PrepareInput(int32_t i);
  Status PrepareOutput(int32_t i);
  bool IsExpanding(int32_t output) const;
  int32_t ExpandedFor(int32_t input, int32_t output) const;
  Status ExpandInputs();
  void Expand(const ShapeView& shape, OpwrightTensor* t);
  void CopyBack();

  const Launch& launch_;
  const Plan& plan_;
  Arena& arena_;
  OpwrightArgument* inputs_ = nullptr;
  OpwrightArgument* outputs_ = nullptr;
  bool must_copy_back_ = false;
  // The memory that the kernel writes, outputs and mutated inputs: all, and from the first byte to
  // the last.
  struct Written {
    ByteRange range;
    const OpwrightTensor* tensor;
    const char* name;
    bool is_input;
  };
  Written* written_ = nullptr;
  int64_t num_written_ = 0;
  ByteRange hull_ = {nullptr, nullptr};
};

}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
//
// The values of one boxed call, off PyTorch's stack: what the schema promises, in its order. A call
// of ordinary size allocates nothing here.
#pragma once

#include "base/error.h"
#include "entries/torch/shim.h"
#include "runtime/arena.h"
#include "runtime/launch.h"

namespace opwright::entries {

// Owns what the stack owned, from construction on.
class TorchArguments {
 public:
  TorchArguments(const OpwrightOpDef& def, const OpwrightHost& host, const TorchValue* stack);
  TorchArguments(const TorchArguments&) = delete;
  TorchArguments& operator=(const TorchArguments&) = delete;
  ~TorchArguments();

  // CL007 when a tensor has no memory of the usual kind, CL002 when it has a dtype of no metadef,
  // CL005 when the shapes of a list do not read.
  opwright::Status TakeStatus() { return std::move(status_); }

  // The definition and everything that came with the call.
  void Fill(Launch* launch);

  Arena& arena() { return arena_; }

 private:
  // Handles to give back, an array for each list.
  struct Owned {
    TorchHandle* handles;
    int64_t count;
    int32_t (*release)(TorchHandle);
    Owned* next;
  };

  TorchHandle* Own(int64_t count, int32_t (*release)(TorchHandle));
  void View(TorchHandle handle, const char* name, OpwrightTensor* tensor);
  bool TakeOptional(TorchValue value, TorchValue* inner);
  // read(value) for each item of a list, into an array of the arena.
  template <class T, class Read>
  const T* Items(TorchValue list, int64_t* count, const Read& read);
  const char* String(TorchValue value, int64_t* size);
  void TakeInput(int32_t i, TorchValue value);
  void TakeAttr(int32_t i, TorchValue value);
  void TakeShape(int32_t output, TorchValue value);
  void TakeWanted(TorchValue value);

  const OpwrightOpDef& def_;
  const TorchShim& torch_;
  Arena arena_;
  opwright::Status status_;
  Owned* owned_ = nullptr;
  TorchHandle* handles_;  // of the inputs that are one tensor
  OpwrightTensor* tensors_;
  OpwrightArgument* inputs_;
  OpwrightArgument* outputs_;
  OpwrightAttr* attrs_;
  ShapeList* shapes_ = nullptr;
  uint8_t* wanted_ = nullptr;
};

}  // namespace opwright::entries

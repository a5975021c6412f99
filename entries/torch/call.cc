// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's boxed call of an operator: values off the stack, the dispatcher, results onto the
// stack.
#include <algorithm>

#include "base/text.h"
#include "entries/instances.h"
#include "entries/torch/arguments.h"
#include "entries/torch/shim.h"
#include "opwright/stub.h"
#include "runtime/host_memory.h"
#include "runtime/launch.h"
#include "runtime/parts.h"
#include "runtime/strided.h"

namespace opwright::entries {
namespace {

struct Range {
  Parts parts;
  void (*body)(void*, int64_t, int64_t);
  void* context;
};

void RunParts(int64_t begin, int64_t end, void* range_pointer) {
  const auto* range = static_cast<const Range*>(range_pointer);
  for (int64_t p = begin; p < end; ++p)
    range->body(range->context, range->parts.begin(p), range->parts.begin(p + 1));
}

void ParallelFor(void*, int64_t n, int64_t grain, void (*body)(void*, int64_t, int64_t),
                 void* context) {
  Range range{Parts(n, grain), body, context};
  Torch().parallel_for(0, range.parts.count(), 1, &RunParts, &range);
}

const OpwrightHost kTorchHost = {sizeof(OpwrightHost), nullptr,      &host::Allocate,
                                 &host::Release,       &ParallelFor, &host::Log};

// Outputs as tensors of PyTorch.
class TorchOutputs final : public OutputAllocator {
 public:
  TorchOutputs(const OpwrightOpDef& def, Arena& arena)
      : def_(def), arena_(arena), made_(arena.Make<Made*>(def.num_outputs)) {
    std::fill_n(made_, def.num_outputs, nullptr);
  }
  TorchOutputs(const TorchOutputs&) = delete;
  TorchOutputs& operator=(const TorchOutputs&) = delete;
  ~TorchOutputs() override {
    for (int32_t i = 0; i < def_.num_outputs; ++i)
      for (const Made* made = made_[i]; made != nullptr; made = made->before)
        Torch().delete_tensor(made->handle);
  }

  opwright::Status Allocate(int32_t output, int64_t, OpwrightDType dtype, int32_t ndim,
                            const int64_t* shape, OpwrightTensor* tensor) override {
    const TorchShim& torch = Torch();
    int64_t strides[OPWRIGHT_MAX_RANK];
    DenseStrides(ndim, shape, strides);
    TorchHandle handle = nullptr;
    if (torch.empty_strided(ndim, shape, strides, torch.TorchDType(dtype), torch.cpu, 0, &handle) !=
        0)
      return MakeError("CL010", StrCat(def_.name, ": PyTorch has no memory for output ",
                                       def_.outputs[output]->name, " ", ShapeText(ndim, shape)));
    auto* made = arena_.Make<Made>(1);
    *made = {handle, made_[output]};
    made_[output] = made;
    // No strides: dense. The shape outlives the call.
    *tensor = {};
    tensor->device_type = 1;
    tensor->ndim = ndim;
    tensor->dtype = dtype;
    tensor->shape = const_cast<int64_t*>(shape);
    torch.get_data(handle, &tensor->data);
    return {};
  }

  // Hands the tensors over to the stack. An unwanted output is an empty tensor.
  void Release(TorchValue* stack) {
    for (int32_t i = 0; i < def_.num_outputs; ++i) {
      if (def_.outputs[i]->kind == kOpwrightDynamic)
        stack[i] = reinterpret_cast<TorchValue>(ReleaseList(i));
      else
        stack[i] = reinterpret_cast<TorchValue>(made_[i] != nullptr ? made_[i]->handle : Empty(i));
      made_[i] = nullptr;
    }
  }

 private:
  struct Made {
    TorchHandle handle;
    Made* before;  // of the same output
  };

  TorchHandle ReleaseList(int32_t output) {
    const TorchShim& torch = Torch();
    int64_t count = 0;
    for (const Made* made = made_[output]; made != nullptr; made = made->before) ++count;
    auto* handles = arena_.Make<TorchHandle>(count);
    int64_t k = count;
    for (const Made* made = made_[output]; made != nullptr; made = made->before)
      handles[--k] = made->handle;
    TorchHandle list = nullptr;
    torch.new_list(static_cast<size_t>(count), &list);
    for (k = 0; k < count; ++k) torch.list_push(list, reinterpret_cast<TorchValue>(handles[k]));
    return list;
  }

  TorchHandle Empty(int32_t output) const {
    const TorchShim& torch = Torch();
    const int64_t zero = 0;
    const int64_t one = 1;
    TorchHandle handle = nullptr;
    torch.empty_strided(1, &zero, &one, torch.TorchDType(def_.outputs[output]->dtypes[0]),
                        torch.cpu, 0, &handle);
    return handle;
  }

  const OpwrightOpDef& def_;
  Arena& arena_;
  Made** made_;  // the last one of each output
};

opwright::Status Call(int32_t index, TorchValue* stack) {
  const OpwrightOperatorEntry* entry = opwright_stub.operators[index].entry;
  const OpwrightOpDef& def = *entry->def;
  TorchArguments arguments(def, kTorchHost, stack);
  OPWRIGHT_RETURN_IF_ERROR(arguments.TakeStatus());
  Expected<void*> instance = KernelInstance(index);
  if (!instance.ok()) return instance.TakeError();
  TorchOutputs outputs(def, arguments.arena());
  Launch launch;
  arguments.Fill(&launch);
  launch.entry = entry;
  launch.instance = *instance;
  launch.host = &kTorchHost;
  launch.allocator = &outputs;
  OPWRIGHT_RETURN_IF_ERROR(Run(launch));
  outputs.Release(stack);
  return {};
}

}  // namespace
}  // namespace opwright::entries

extern "C" void opwright_torch_call(int32_t index, uint64_t* stack, uint64_t, uint64_t) {
  std::string failure;
  {
    const opwright::Status status = opwright::entries::Call(index, stack);
    if (status.ok()) return;
    failure = status.error().Text();
  }
  opwright::entries::TorchRaise(failure);
}

// SPDX-License-Identifier: Apache-2.0
//
// What stands before an operator until Opwright takes over: PyTorch would let a gradient that
// nobody registered be silently lost, and would not notice what an operator writes.
#include <algorithm>
#include <vector>

#include "base/text.h"
#include "entries/torch/arguments.h"
#include "entries/torch/shim.h"
#include "opwright/stub.h"
#include "runtime/host_memory.h"

namespace opwright::entries {
namespace {

// What a function of PyTorch's interface fails with that has no reason to.
std::string Broken(const TorchShim& torch, const char* op, std::string_view what) {
  return StrCat(op, ": ", what, ": ", TorchFailure(torch, "it failed"), " [IN001]");
}

// A question about a tensor to PyTorch's dispatcher, on a handle of its own; what cannot be asked
// is an error: a "no" would lose a gradient in silence.
class Question {
 public:
  Question(const TorchShim& torch, const char* op, TorchHandle tensor) : torch_(torch), op_(op) {
    TorchHandle copy = nullptr;
    Need(torch.new_handle(tensor, &copy), "a second handle");
    stack_[0] = reinterpret_cast<TorchValue>(copy);
  }

  // Whether autograd would record what is done with the tensor. The interface has no getter: a view
  // of the tensor is no leaf exactly when a gradient is due.
  bool NeedsGradient() {
    Call("aten::alias");
    Call("aten::is_leaf");
    return static_cast<uint8_t>(stack_[0]) == 0;
  }

  // Whether it has a tangent of forward mode, of which PyTorch has one level.
  bool HasTangent() {
    Call("aten::_unpack_dual");
    bool has = false;
    Need(torch_.is_defined(reinterpret_cast<TorchHandle>(stack_[1]), &has), "is_defined");
    for (const TorchValue part : stack_) torch_.delete_tensor(reinterpret_cast<TorchHandle>(part));
    return has;
  }

 private:
  void Call(const char* name) { Need(torch_.call(name, "", stack_, torch_.version), name); }
  void Need(int32_t failed, const char* what) const {
    if (failed == 0) return;
    TorchRaise(
        Broken(torch_, op_, StrCat("whether an input requires a gradient cannot be told: ", what)));
  }

  const TorchShim& torch_;
  const char* op_;
  TorchValue stack_[2] = {0, 0};
};

// Raises for an input whose gradient would be lost.
void RefuseGradient(const TorchShim& torch, const char* op, TorchHandle tensor) {
  if (torch.grad_enabled() && Question(torch, op, tensor).NeedsGradient())
    TorchRaise(StrCat(op,
                      ": an input requires a gradient, and none is registered; load the library "
                      "with `opwright.load`, or detach the inputs [GR001]"));
  if (Question(torch, op, tensor).HasTangent())
    TorchRaise(StrCat(op,
                      ": an input has a tangent, and operators have no gradient in forward mode; "
                      "load the library with `opwright.load` and use backward mode [GR010]"));
}

// visit(tensor) for each tensor of an input, which stays the stack's own.
template <class Visit>
void EachTensor(const TorchShim& torch, const OpwrightOpDef& def, int32_t input,
                const TorchValue* stack, const Visit& visit) {
  TorchValue value = stack[input];
  if (def.inputs[input]->kind == kOpwrightDynamic) {
    auto list = reinterpret_cast<TorchHandle>(value);
    size_t size = 0;
    const auto need = [&](int32_t failed) {
      if (failed != 0) TorchRaise(Broken(torch, def.name, "a list of tensors cannot be read"));
    };
    need(torch.list_size(list, &size));
    for (size_t k = 0; k < size; ++k) {
      need(torch.list_get(list, k, &value));
      visit(reinterpret_cast<TorchHandle>(value));
    }
    return;
  }
  if (def.inputs[input]->kind == kOpwrightOptional) {
    if (value == 0) return;
    value = *reinterpret_cast<const TorchValue*>(value);
  }
  visit(reinterpret_cast<TorchHandle>(value));
}

// Raises for an input that no kernel can take, in better words than PyTorch has for it.
void RefuseUnusable(const TorchShim& torch, const OpwrightOpDef& def, const char* input,
                    TorchHandle tensor) {
  const auto refuse = [&](std::string_view why, std::string_view id) {
    TorchRaise(StrCat(def.name, ": input ", input, " ", why, " [", id, "]"));
  };
  int32_t layout = torch.strided;
  int32_t device = torch.cpu;
  int32_t dtype = 0;
  int64_t* sizes = nullptr;
  torch.get_layout(tensor, &layout);
  if (layout != torch.strided || torch.get_sizes(tensor, &sizes) != 0)
    refuse("is no dense tensor; convert it with to_dense()", "CL007");
  torch.get_device_type(tensor, &device);
  if (device == torch.meta)
    refuse("is without data, and only Opwright knows the shapes of outputs; write import opwright",
           "CL007");
  if (device != torch.cpu) refuse("is on another device; copy it to the CPU first", "CL007");
  torch.get_dtype(tensor, &dtype);
  if (torch.DType(dtype).code == kUnknownDType)
    refuse(StrCat("has dtype ", TorchDTypeName(dtype), ", which no kernel takes; convert it"),
           "CL002");
}

void Refuse(const TorchShim& torch, const OpwrightOpDef& def, const TorchValue* stack) {
  for (int32_t i = 0; i < def.num_inputs; ++i)
    EachTensor(torch, def, i, stack, [&](TorchHandle tensor) {
      RefuseUnusable(torch, def, def.inputs[i]->name, tensor);
      RefuseGradient(torch, def.name, tensor);
    });
}

const OpwrightHost kNoThreads = {sizeof(OpwrightHost), nullptr, &host::Allocate,
                                 &host::Release,       nullptr, &host::Log};

// What is refused ends here: PyTorch has given its values away with the call.
void RefuseOrPass(const TorchShim& torch, const OpwrightOpDef& def, const TorchValue* stack) {
  try {
    Refuse(torch, def, stack);
  } catch (...) {
    const TorchArguments taken(def, kNoThreads, stack);
    throw;
  }
}

// What autograd counts: how often a tensor was written. The tensors are this class's own.
class Written {
 public:
  Written(const TorchShim& torch, const OpwrightOpDef& def, const TorchValue* stack)
      : torch_(torch) {
    for (int32_t m = 0; m < def.num_mutates; ++m)
      EachTensor(torch, def, def.mutates[m], stack, [&](TorchHandle tensor) {
        TorchHandle copy = nullptr;
        if (torch.new_handle(tensor, &copy) == 0) tensors_.push_back(copy);
      });
  }
  Written(const Written&) = delete;
  Written& operator=(const Written&) = delete;
  ~Written() {
    for (const TorchHandle tensor : tensors_) torch_.delete_tensor(tensor);
  }

  // The interface has no function for it: a copy of a tensor to itself does this and nothing else.
  bool Count() const {
    return std::all_of(tensors_.begin(), tensors_.end(), [&](TorchHandle tensor) {
      TorchHandle to = nullptr;
      TorchHandle from = nullptr;
      if (torch_.new_handle(tensor, &to) != 0 || torch_.new_handle(tensor, &from) != 0)
        return false;
      TorchValue stack[3] = {reinterpret_cast<TorchValue>(to), reinterpret_cast<TorchValue>(from),
                             0};
      if (torch_.call("aten::copy_", "", stack, torch_.version) != 0) return false;
      return torch_.delete_tensor(reinterpret_cast<TorchHandle>(stack[0])) == 0;
    });
  }

 private:
  const TorchShim& torch_;
  std::vector<TorchHandle> tensors_;
};

// "": the operator has run.
std::string CallBelow(const TorchShim& torch, const OpwrightOpDef& def, TorchValue* stack) {
  const Written written(torch, def, stack);
  const std::string name = StrCat(def.ns, "::_", def.name, "_without_gradient");
  if (torch.call(name.c_str(), "", stack, torch.version) != 0)
    return TorchFailure(
        torch, StrCat(def.name,
                      ": the operator failed, and PyTorch does not say why; where the call is "
                      "traced (torch.compile, torch.export), write import opwright, which tells "
                      "PyTorch shapes [CL007]"));
  if (written.Count()) return {};
  return Broken(torch, def.name, "what was written could not be counted");
}

}  // namespace
}  // namespace opwright::entries

extern "C" void opwright_torch_guard(int32_t index, uint64_t* stack, uint64_t, uint64_t) {
  const opwright::entries::TorchShim& torch = opwright::entries::Torch();
  const OpwrightOpDef& def = *opwright_stub.operators[index].entry->def;
  opwright::entries::ForgetTorchFailure(torch);
  opwright::entries::RefuseOrPass(torch, def, stack);
  const std::string failure = opwright::entries::CallBelow(torch, def, stack);
  if (!failure.empty()) opwright::entries::TorchRaise(failure);
}

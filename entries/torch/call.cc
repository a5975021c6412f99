// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's boxed call of an operator: values off the stack, the dispatcher, results onto the stack.
#include <cstring>
#include <memory>
#include <vector>

#include "base/text.h"
#include "entries/host.h"
#include "entries/torch/schema.h"
#include "entries/torch/shim.h"
#include "opwright/stub.h"
#include "runtime/dtype.h"
#include "runtime/launch.h"
#include "runtime/parts.h"
#include "runtime/signature.h"
#include "runtime/strided.h"

namespace opwright::entries {
namespace {

void* Allocate(void*, size_t bytes) { return aligned_alloc(64, (bytes + 63) / 64 * 64); }
void Release(void*, void* memory, size_t) { free(memory); }

struct Range {
  Parts parts;
  void (*body)(void*, int64_t, int64_t);
  void* context;
};

void RunParts(int64_t begin, int64_t end, void* range_pointer) {
  const auto* range = static_cast<const Range*>(range_pointer);
  for (int64_t p = begin; p < end; ++p) range->body(range->context, range->parts.begin(p), range->parts.begin(p + 1));
}

void ParallelFor(void*, int64_t n, int64_t grain, void (*body)(void*, int64_t, int64_t), void* context) {
  Range range{Parts(n, grain), body, context};
  Torch().parallel_for(0, range.parts.count(), 1, &RunParts, &range);
}

void Log(void*, int32_t, const char* message) { fprintf(stderr, "opwright: %s\n", message); }

const OpwrightHost kTorchHost = {sizeof(OpwrightHost), nullptr, &Allocate, &Release, &ParallelFor, &Log};

// The arguments of one call, owning what the stack owned.
class Arguments {
 public:
  Arguments(const OpwrightOpDef& def, TorchValue* stack) : def_(def), torch_(Torch()), stack_(stack) {
    inputs_.resize(static_cast<size_t>(def.num_inputs));
    attrs_.resize(static_cast<size_t>(def.num_attrs));
    outputs_.resize(static_cast<size_t>(def.num_outputs));
    int64_t most = 0;
    for (int32_t i = 0; i < def.num_inputs; ++i) most += def.inputs[i]->kind == kOpwrightDynamic ? 0 : 1;
    tensors_.reserve(static_cast<size_t>(most));
    int32_t slot = 0;
    for (int32_t i = 0; i < def.num_inputs; ++i) TakeInput(i, stack[slot++]);
    for (int32_t i = 0; i < def.num_attrs; ++i) TakeAttr(i, stack[slot++]);
    for (int32_t i = 0; i < def.num_outputs; ++i)
      if (TakesShape(def, i)) TakeShape(i, stack[slot++]);
    if (TakesWanted(def)) TakeWanted(stack[slot]);
  }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  ~Arguments() {
    for (TorchHandle tensor : handles_) torch_.delete_tensor(tensor);
    for (TorchHandle string : strings_) torch_.delete_string(string);
  }

  OpwrightArgument* outputs() { return outputs_.data(); }

  Launch MakeLaunch() {
    Launch launch;
    launch.def = &def_;
    launch.host = &kTorchHost;
    launch.inputs = inputs_.data();
    launch.num_inputs = def_.num_inputs;
    launch.outputs = outputs_.data();
    launch.num_outputs = def_.num_outputs;
    launch.attrs = attrs_.data();
    launch.num_attrs = def_.num_attrs;
    launch.wanted = wanted_.empty() ? nullptr : wanted_.data();
    return launch;
  }

  // The shape that a gradient call passed for the output.
  const std::vector<int64_t>* PassedShape(int32_t output) const {
    return TakesShape(def_, output) ? &shapes_[static_cast<size_t>(output)] : nullptr;
  }

 private:
  OpwrightTensor ViewOf(TorchHandle handle) {
    handles_.push_back(handle);
    OpwrightTensor tensor = {};
    int64_t ndim = 0;
    int32_t dtype = 0;
    torch_.get_dim(handle, &ndim);
    torch_.get_dtype(handle, &dtype);
    if (torch_.get_sizes(handle, &tensor.shape) || torch_.get_strides(handle, &tensor.strides) ||
        torch_.get_data(handle, &tensor.data))
      TorchRaise(StrCat(def_.name, ": a tensor without plain strides or memory was given"));
    tensor.device_type = 1;
    tensor.ndim = static_cast<int32_t>(ndim);
    tensor.dtype = torch_.DType(dtype);
    return tensor;
  }

  // The value behind an optional's pointer, which is freed; false for none.
  bool TakeOptional(TorchValue value, TorchValue* inner) {
    if (value == 0) return false;
    auto* pointer = reinterpret_cast<TorchValue*>(value);
    *inner = *pointer;
    if (torch_.delete_optional != nullptr)
      torch_.delete_optional(pointer);
    else
      delete pointer;
    return true;
  }

  void TakeInput(int32_t i, TorchValue value) {
    OpwrightArgument& input = inputs_[static_cast<size_t>(i)];
    const int32_t kind = def_.inputs[i]->kind;
    if (kind == kOpwrightDynamic) {
      auto list = std::make_unique<std::vector<OpwrightTensor>>();
      EachOf(value, [&](TorchValue item) { list->push_back(ViewOf(reinterpret_cast<TorchHandle>(item))); });
      input = {list->data(), static_cast<int64_t>(list->size())};
      lists_.push_back(std::move(list));
      return;
    }
    if (kind == kOpwrightOptional && !TakeOptional(value, &value)) {
      input = {nullptr, 0};
      return;
    }
    tensors_.push_back(ViewOf(reinterpret_cast<TorchHandle>(value)));
    input = {&tensors_.back(), 1};
  }

  template <class Take>
  void EachOf(TorchValue value, const Take& take) {
    auto list = reinterpret_cast<TorchHandle>(value);
    size_t size = 0;
    torch_.list_size(list, &size);
    for (size_t k = 0; k < size; ++k) {
      TorchValue item = 0;
      torch_.list_get(list, k, &item);
      take(item);
    }
    torch_.delete_list(list);
  }

  std::vector<int64_t> Ints(TorchValue value, bool bools) {
    std::vector<int64_t> ints;
    EachOf(value, [&](TorchValue item) { ints.push_back(bools ? static_cast<uint8_t>(item) : static_cast<int64_t>(item)); });
    return ints;
  }

  const char* String(TorchValue value, int64_t* size) {
    auto handle = reinterpret_cast<TorchHandle>(value);
    strings_.push_back(handle);
    size_t length = 0;
    const char* data = "";
    torch_.string_length(handle, &length);
    torch_.string_data(handle, &data);
    *size = static_cast<int64_t>(length);
    return data;
  }

  template <class T>
  void KeepList(OpwrightAttr* attr, std::vector<T> values) {
    auto kept = std::make_shared<std::vector<T>>(std::move(values));
    attr->size = static_cast<int64_t>(kept->size());
    attr->value.data = kept->data();
    kept_.push_back(std::move(kept));
  }

  void TakeAttr(int32_t i, TorchValue value) {
    const OpwrightAttrDef& def = *def_.attrs[i];
    OpwrightAttr& attr = attrs_[static_cast<size_t>(i)];
    attr = {};
    if (!def.required && (def.type == kOpwrightAttrListString || def.type == kOpwrightAttrListListInt) &&
        !TakeOptional(value, &value))
      return;  // the default
    attr.type = def.type;
    switch (def.type) {
      case kOpwrightAttrInt:
        attr.value.i = static_cast<int64_t>(value);
        break;
      case kOpwrightAttrFloat:
        memcpy(&attr.value.f, &value, sizeof value);
        break;
      case kOpwrightAttrBool:
        attr.value.i = static_cast<uint8_t>(value);
        break;
      case kOpwrightAttrString:
      case kOpwrightAttrType:
        attr.value.s = String(value, &attr.size);
        break;
      case kOpwrightAttrListInt:
      case kOpwrightAttrListBool:
        KeepList(&attr, Ints(value, def.type == kOpwrightAttrListBool));
        break;
      case kOpwrightAttrListFloat: {
        std::vector<double> floats;
        EachOf(value, [&](TorchValue item) {
          double number;
          memcpy(&number, &item, sizeof item);
          floats.push_back(number);
        });
        KeepList(&attr, std::move(floats));
        break;
      }
      case kOpwrightAttrListString: {
        std::vector<const char*> strings;
        int64_t size = 0;
        EachOf(value, [&](TorchValue item) { strings.push_back(String(item, &size)); });
        KeepList(&attr, std::move(strings));
        break;
      }
      default: {
        std::vector<OpwrightAttr> rows;
        EachOf(value, [&](TorchValue item) {
          OpwrightAttr row = {kOpwrightAttrListInt, 0, 0, {}};
          KeepList(&row, Ints(item, false));
          rows.push_back(row);
        });
        KeepList(&attr, std::move(rows));
      }
    }
  }

  void TakeShape(int32_t output, TorchValue value) {
    shapes_.resize(static_cast<size_t>(def_.num_outputs));
    shapes_[static_cast<size_t>(output)] = Ints(value, false);
  }

  void TakeWanted(TorchValue value) {
    if (!TakeOptional(value, &value)) return;
    for (const int64_t flag : Ints(value, true)) wanted_.push_back(static_cast<uint8_t>(flag));
    wanted_.resize(static_cast<size_t>(def_.num_outputs), 1);
  }

  const OpwrightOpDef& def_;
  const TorchShim& torch_;
  TorchValue* stack_;
  std::vector<TorchHandle> handles_;
  std::vector<TorchHandle> strings_;
  std::vector<OpwrightTensor> tensors_;
  std::vector<std::unique_ptr<std::vector<OpwrightTensor>>> lists_;
  std::vector<std::shared_ptr<void>> kept_;
  std::vector<OpwrightArgument> inputs_;
  std::vector<OpwrightArgument> outputs_;
  std::vector<OpwrightAttr> attrs_;
  std::vector<std::vector<int64_t>> shapes_;
  std::vector<uint8_t> wanted_;
};

// Outputs as tensors of PyTorch.
class TorchOutputs final : public OutputAllocator {
 public:
  explicit TorchOutputs(const OpwrightOpDef& def) : def_(def), handles_(static_cast<size_t>(def.num_outputs)) {}
  TorchOutputs(const TorchOutputs&) = delete;
  TorchOutputs& operator=(const TorchOutputs&) = delete;
  ~TorchOutputs() override {
    for (const auto& list : handles_)
      for (TorchHandle handle : list) Torch().delete_tensor(handle);
  }

  opwright::Status Allocate(int32_t output, int64_t, OpwrightDType dtype, int32_t ndim, const int64_t* shape,
                            OpwrightTensor* tensor) override {
    const TorchShim& torch = Torch();
    int64_t strides[OPWRIGHT_MAX_RANK];
    DenseStrides(ndim, shape, strides);
    TorchHandle handle = nullptr;
    if (torch.empty_strided(ndim, shape, strides, torch.TorchDType(dtype), torch.cpu, 0, &handle) != 0)
      return MakeError("CL010", StrCat(def_.name, ": PyTorch has no memory for output ", def_.outputs[output]->name,
                                       " ", ShapeText(ndim, shape)));
    handles_[static_cast<size_t>(output)].push_back(handle);
    *tensor = {};
    tensor->device_type = 1;
    tensor->ndim = ndim;
    tensor->dtype = dtype;
    torch.get_sizes(handle, &tensor->shape);
    torch.get_strides(handle, &tensor->strides);
    torch.get_data(handle, &tensor->data);
    return {};
  }

  // Hands the tensors over to the stack. An unwanted output is an empty tensor.
  void Release(TorchValue* stack) {
    const TorchShim& torch = Torch();
    for (int32_t i = 0; i < def_.num_outputs; ++i) {
      std::vector<TorchHandle>& list = handles_[static_cast<size_t>(i)];
      if (def_.outputs[i]->kind == kOpwrightDynamic) {
        TorchHandle out = nullptr;
        torch.new_list(list.size(), &out);
        for (TorchHandle handle : list) torch.list_push(out, reinterpret_cast<TorchValue>(handle));
        stack[i] = reinterpret_cast<TorchValue>(out);
      } else {
        if (list.empty()) {
          const int64_t zero = 0;
          const int64_t one = 1;
          TorchHandle handle = nullptr;
          torch.empty_strided(1, &zero, &one, torch.TorchDType(def_.outputs[i]->dtypes[0]), torch.cpu, 0, &handle);
          list.push_back(handle);
        }
        stack[i] = reinterpret_cast<TorchValue>(list[0]);
      }
      list.clear();
    }
  }

 private:
  const OpwrightOpDef& def_;
  std::vector<std::vector<TorchHandle>> handles_;
};

}  // namespace
}  // namespace opwright::entries

using namespace opwright;           // NOLINT: the C function below is the file's only use of it
using namespace opwright::entries;  // NOLINT

extern "C" void opwright_torch_call(int32_t index, uint64_t* stack, uint64_t, uint64_t) {
  const OpwrightOperatorEntry* entry = opwright_stub.operators[index].entry;
  const OpwrightOpDef& def = *entry->def;
  std::string failure;
  {
    Arguments arguments(def, stack);
    TorchOutputs outputs(def);
    Expected<void*> instance = KernelInstance(index);
    opwright::Status status;
    if (!instance.ok()) {
      status = instance.TakeError();
    } else {
      // An output whose shape was passed is made here, so that the dispatcher finds it given.
      std::vector<OpwrightTensor> passed(static_cast<size_t>(def.num_outputs));
      Expected<int32_t> column = SelectColumn(def, arguments.MakeLaunch().inputs, def.num_inputs);
      for (int32_t i = 0; i < def.num_outputs && column.ok() && status.ok(); ++i) {
        const std::vector<int64_t>* shape = arguments.PassedShape(i);
        if (shape == nullptr) continue;
        OpwrightTensor& tensor = passed[static_cast<size_t>(i)];
        status = outputs.Allocate(i, 0, def.outputs[i]->dtypes[*column], static_cast<int32_t>(shape->size()),
                                  shape->data(), &tensor);
        arguments.outputs()[i] = {&tensor, 1};
      }
      Launch launch = arguments.MakeLaunch();
      launch.entry = entry;
      launch.instance = *instance;
      launch.allocator = &outputs;
      if (status.ok()) status = Run(launch);
    }
    if (status.ok()) {
      outputs.Release(stack);
      return;
    }
    failure = status.error().Text();
  }
  TorchRaise(failure);
}

// SPDX-License-Identifier: Apache-2.0
#include "entries/torch/arguments.h"

#include <algorithm>
#include <cstring>

#include "base/text.h"
#include "entries/torch/schema.h"

namespace opwright::entries {
namespace {

int64_t AsInt(TorchValue value) { return static_cast<int64_t>(value); }
// The other bytes of a bool's slot mean nothing.
int64_t AsBool(TorchValue value) { return static_cast<uint8_t>(value) != 0; }
double AsFloat(TorchValue value) {
  double number;
  memcpy(&number, &value, sizeof number);
  return number;
}
TorchHandle AsHandle(TorchValue value) { return reinterpret_cast<TorchHandle>(value); }

}  // namespace

TorchArguments::TorchArguments(const OpwrightOpDef& def, const OpwrightHost& host,
                               const TorchValue* stack)
    : def_(def), torch_(Torch()), arena_(&host) {
  handles_ = Own(def.num_inputs, torch_.delete_tensor);
  tensors_ = arena_.Make<OpwrightTensor>(def.num_inputs);
  inputs_ = arena_.Make<OpwrightArgument>(def.num_inputs);
  outputs_ = arena_.Make<OpwrightArgument>(def.num_outputs);
  attrs_ = arena_.Make<OpwrightAttr>(def.num_attrs);
  std::fill_n(outputs_, def.num_outputs, OpwrightArgument{});
  for (int32_t i = 0; i < def.num_inputs; ++i) TakeInput(i, *stack++);
  for (int32_t i = 0; i < def.num_attrs; ++i) TakeAttr(i, *stack++);
  for (int32_t i = 0; i < def.num_outputs; ++i)
    if (TakesShape(def, i)) TakeShape(i, *stack++);
  if (TakesWanted(def)) TakeWanted(*stack);
}

TorchArguments::~TorchArguments() {
  for (const Owned* owned = owned_; owned != nullptr; owned = owned->next)
    for (int64_t k = 0; k < owned->count; ++k)
      if (owned->handles[k] != nullptr) owned->release(owned->handles[k]);
}

void TorchArguments::Fill(Launch* launch) {
  launch->def = &def_;
  launch->inputs = inputs_;
  launch->num_inputs = def_.num_inputs;
  launch->outputs = outputs_;
  launch->num_outputs = def_.num_outputs;
  launch->attrs = attrs_;
  launch->num_attrs = def_.num_attrs;
  launch->wanted = wanted_;
  launch->known_shapes = shapes_;
}

TorchHandle* TorchArguments::Own(int64_t count, int32_t (*release)(TorchHandle)) {
  TorchHandle* handles = arena_.Make<TorchHandle>(count);
  std::fill_n(handles, count, nullptr);
  auto* owned = arena_.Make<Owned>(1);
  *owned = {handles, count, release, owned_};
  owned_ = owned;
  return handles;
}

void TorchArguments::View(TorchHandle handle, const char* name, OpwrightTensor* tensor) {
  *tensor = {};
  int64_t ndim = 0;
  int32_t dtype = 0;
  const bool failed = torch_.get_dim(handle, &ndim) || torch_.get_dtype(handle, &dtype) ||
                      torch_.get_sizes(handle, &tensor->shape) ||
                      torch_.get_strides(handle, &tensor->strides) ||
                      torch_.get_data(handle, &tensor->data);
  if (failed && status_.ok())
    status_ = MakeError(
        "CL007",
        StrCat(def_.name, ": input ", name,
               " is not a dense tensor with memory of its own; convert it with to_dense()"));
  tensor->device_type = 1;
  if (!AlwaysTakesTensor(def_)) {  // else PyTorch has dispatched by the device
    int32_t device = torch_.cpu;
    torch_.get_device_type(handle, &device);
    if (device != torch_.cpu) tensor->device_type = device + 1;
  }
  tensor->ndim = static_cast<int32_t>(ndim);
  tensor->dtype = torch_.DType(dtype);
  if (tensor->dtype.code == kUnknownDType && status_.ok())
    status_ = MakeError("CL002", StrCat(def_.name, ": dtype ", TorchDTypeName(dtype), " of input ",
                                        name, " is none that a metadef lists; convert it"));
}

// The value behind an optional's pointer, which is freed; false for none.
bool TorchArguments::TakeOptional(TorchValue value, TorchValue* inner) {
  if (value == 0) return false;
  auto* pointer = reinterpret_cast<TorchValue*>(value);
  *inner = *pointer;
  if (torch_.delete_optional != nullptr)
    torch_.delete_optional(pointer);
  else
    delete pointer;
  return true;
}

template <class T, class Read>
const T* TorchArguments::Items(TorchValue list, int64_t* count, const Read& read) {
  size_t size = 0;
  torch_.list_size(AsHandle(list), &size);
  *count = static_cast<int64_t>(size);
  T* items = arena_.Make<T>(*count);
  for (size_t k = 0; k < size; ++k) {
    TorchValue item = 0;
    torch_.list_get(AsHandle(list), k, &item);
    items[k] = read(item);
  }
  torch_.delete_list(AsHandle(list));
  return items;
}

const char* TorchArguments::String(TorchValue value, int64_t* size) {
  Own(1, torch_.delete_string)[0] = AsHandle(value);
  size_t length = 0;
  const char* data = "";
  torch_.string_length(AsHandle(value), &length);
  torch_.string_data(AsHandle(value), &data);
  *size = static_cast<int64_t>(length);
  return data;
}

void TorchArguments::TakeInput(int32_t i, TorchValue value) {
  const OpwrightParamDef& param = *def_.inputs[i];
  inputs_[i] = {nullptr, 0};
  if (param.kind == kOpwrightDynamic) {
    int64_t count = 0;
    const TorchHandle* items = Items<TorchHandle>(value, &count, &AsHandle);
    std::copy(items, items + count, Own(count, torch_.delete_tensor));
    auto* tensors = arena_.Make<OpwrightTensor>(count);
    for (int64_t k = 0; k < count; ++k) View(items[k], param.name, &tensors[k]);
    inputs_[i] = {tensors, count};
    return;
  }
  if (param.kind == kOpwrightOptional && !TakeOptional(value, &value)) return;
  handles_[i] = AsHandle(value);
  View(handles_[i], param.name, &tensors_[i]);
  inputs_[i] = {&tensors_[i], 1};
}

void TorchArguments::TakeAttr(int32_t i, TorchValue value) {
  const OpwrightAttrDef& def = *def_.attrs[i];
  OpwrightAttr& attr = attrs_[i];
  attr = {};
  if (TakesNone(def) && !TakeOptional(value, &value)) return;
  attr.type = def.type;
  switch (def.type) {
    case kOpwrightAttrInt:
      attr.value.i = AsInt(value);
      break;
    case kOpwrightAttrFloat:
      attr.value.f = AsFloat(value);
      break;
    case kOpwrightAttrBool:
      attr.value.i = AsBool(value);
      break;
    case kOpwrightAttrString:
    case kOpwrightAttrType:
      attr.value.s = String(value, &attr.size);
      break;
    case kOpwrightAttrListInt:
      attr.value.data = Items<int64_t>(value, &attr.size, &AsInt);
      break;
    case kOpwrightAttrListBool:
      attr.value.data = Items<int64_t>(value, &attr.size, &AsBool);
      break;
    case kOpwrightAttrListFloat:
      attr.value.data = Items<double>(value, &attr.size, &AsFloat);
      break;
    case kOpwrightAttrListString:
      attr.value.data =
          static_cast<const void*>(Items<const char*>(value, &attr.size, [&](TorchValue item) {
            int64_t size = 0;
            return String(item, &size);
          }));
      break;
    default:
      attr.value.data = Items<OpwrightAttr>(value, &attr.size, [&](TorchValue item) {
        OpwrightAttr row = {kOpwrightAttrListInt, 0, 0, {}};
        row.value.data = Items<int64_t>(item, &row.size, &AsInt);
        return row;
      });
  }
}

void TorchArguments::TakeShape(int32_t output, TorchValue value) {
  if (shapes_ == nullptr) {
    shapes_ = arena_.Make<ShapeList>(def_.num_outputs);
    std::fill_n(shapes_, def_.num_outputs, ShapeList{});
  }
  int64_t size = 0;
  const int64_t* numbers = Items<int64_t>(value, &size, &AsInt);
  auto* shapes = arena_.Make<ShapeView>(size + 1);
  if (def_.outputs[output]->kind != kOpwrightDynamic) {
    *shapes = {static_cast<int32_t>(size), numbers};
    shapes_[output] = {1, shapes};
    return;
  }
  int64_t count = 0;
  for (int64_t at = 0; at < size; ++count) {
    const int64_t rank = numbers[at++];
    if (rank < 0 || rank > size - at) {
      status_ = MakeError("CL005",
                          StrCat(def_.name, ": the shapes of the list ", def_.outputs[output]->name,
                                 " do not read: each is its rank, then its sizes; rank ", rank,
                                 " stands before ", Count(size - at, "number")));
      return;
    }
    shapes[count] = {static_cast<int32_t>(rank), numbers + at};
    at += rank;
  }
  shapes_[output] = {count, shapes};
}

void TorchArguments::TakeWanted(TorchValue value) {
  if (!TakeOptional(value, &value)) return;
  int64_t count = 0;
  const int64_t* flags = Items<int64_t>(value, &count, &AsBool);
  wanted_ = arena_.Make<uint8_t>(def_.num_outputs);
  for (int32_t i = 0; i < def_.num_outputs; ++i) wanted_[i] = i >= count || flags[i] != 0;
}

}  // namespace opwright::entries

// SPDX-License-Identifier: Apache-2.0
#include "entries/torch/shim.h"

#include <dlfcn.h>
#include <pthread.h>

#include <cstdlib>
#include <iterator>

#include "base/dtype.h"

namespace opwright::entries {
namespace {

struct Symbol {
  void** slot;
  const char* name;
  bool optional;
};

template <class Function>
Symbol Needed(Function** slot, const char* name) {
  return {reinterpret_cast<void**>(slot), name, false};
}
template <class Function>
Symbol Optional(Function** slot, const char* name) {
  return {reinterpret_cast<void**>(slot), name, true};
}

bool Load(void* torch, TorchShim* shim, std::string* why) {
  const Symbol symbols[] = {
      Needed(&shim->library_fragment, "aoti_torch_library_init_fragment"),
      Needed(&shim->library_impl, "aoti_torch_library_init_impl"),
      Needed(&shim->define, "aoti_torch_library_def"),
      Needed(&shim->implement, "torch_library_impl"),
      Needed(&shim->delete_library, "aoti_torch_delete_library_object"),
      Needed(&shim->call, "torch_call_dispatcher"),
      Needed(&shim->get_dim, "aoti_torch_get_dim"),
      Needed(&shim->get_sizes, "aoti_torch_get_sizes"),
      Needed(&shim->get_strides, "aoti_torch_get_strides"),
      Needed(&shim->get_dtype, "aoti_torch_get_dtype"),
      Needed(&shim->get_data, "aoti_torch_get_data_ptr"),
      Needed(&shim->get_device_type, "aoti_torch_get_device_type"),
      Needed(&shim->get_layout, "aoti_torch_get_layout"),
      Needed(&shim->empty_strided, "aoti_torch_empty_strided"),
      Needed(&shim->is_defined, "aoti_torch_is_defined"),
      Needed(&shim->new_handle, "aoti_torch_new_tensor_handle"),
      Needed(&shim->delete_tensor, "aoti_torch_delete_tensor_object"),
      Needed(&shim->new_list, "torch_new_list_reserve_size"),
      Needed(&shim->list_size, "torch_list_size"),
      Needed(&shim->list_get, "torch_list_get_item"),
      Needed(&shim->list_push, "torch_list_push_back"),
      Needed(&shim->delete_list, "torch_delete_list"),
      Needed(&shim->string_length, "torch_string_length"),
      Needed(&shim->string_data, "torch_string_c_str"),
      Needed(&shim->delete_string, "torch_delete_string"),
      Optional(&shim->delete_optional, "torch_delete_stable_ivalue"),
      Needed(&shim->parallel_for, "torch_parallel_for"),
      Needed(&shim->grad_enabled, "aoti_torch_grad_mode_is_enabled"),
      Needed(&shim->check, "aoti_torch_check"),
      Optional(&shim->last_error, "torch_exception_get_what_without_backtrace"),
  };
  for (const Symbol& symbol : symbols) {
    *symbol.slot = dlsym(torch, symbol.name);
    if (*symbol.slot == nullptr && !symbol.optional) {
      *why =
          std::string("this PyTorch has no ") + symbol.name + "; PyTorch 2.10 or newer is needed";
      return false;
    }
  }
  const auto number = [torch](const char* getter, int32_t otherwise) {
    auto* get = reinterpret_cast<int32_t (*)()>(dlsym(torch, getter));
    return get == nullptr ? otherwise : get();
  };
  const struct {
    const char* getter;
    OpwrightDType dtype;
  } dtypes[] = {
      {"aoti_torch_dtype_float32", {kOpwrightFloat, 32, 1}},
      {"aoti_torch_dtype_float64", {kOpwrightFloat, 64, 1}},
      {"aoti_torch_dtype_float16", {kOpwrightFloat, 16, 1}},
      {"aoti_torch_dtype_bfloat16", {kOpwrightBfloat, 16, 1}},
      {"aoti_torch_dtype_int64", {kOpwrightInt, 64, 1}},
      {"aoti_torch_dtype_int32", {kOpwrightInt, 32, 1}},
      {"aoti_torch_dtype_int16", {kOpwrightInt, 16, 1}},
      {"aoti_torch_dtype_int8", {kOpwrightInt, 8, 1}},
      {"aoti_torch_dtype_uint8", {kOpwrightUInt, 8, 1}},
      {"aoti_torch_dtype_uint16", {kOpwrightUInt, 16, 1}},
      {"aoti_torch_dtype_uint32", {kOpwrightUInt, 32, 1}},
      {"aoti_torch_dtype_uint64", {kOpwrightUInt, 64, 1}},
      {"aoti_torch_dtype_bool", {kOpwrightBool, 8, 1}},
      {"aoti_torch_dtype_complex64", {kOpwrightComplex, 64, 1}},
      {"aoti_torch_dtype_complex128", {kOpwrightComplex, 128, 1}},
  };
  static_assert(sizeof dtypes / sizeof *dtypes == sizeof shim->dtypes / sizeof *shim->dtypes);
  for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; ++i) {
    shim->dtypes[i] = {number(dtypes[i].getter, -1), dtypes[i].dtype};
  }
  shim->cpu = number("aoti_torch_device_type_cpu", 0);
  shim->meta = number("aoti_torch_device_type_meta", -1);
  shim->strided = number("aoti_torch_layout_strided", 0);
  shim->version = (uint64_t{2} << 56) | (uint64_t{10} << 48);
  return true;
}

TorchShim shim;
bool loaded = false;

// What this library last raised on the thread: the guard and the operator that it calls are on one,
// and PyTorch between them, before 2.13, only says that it failed. A key, as thread_local would
// make every operator library need the dynamic linker by name.
std::string& LastRaised() {
  static const pthread_key_t key = [] {
    pthread_key_t made;
    if (pthread_key_create(&made, [](void* text) { delete static_cast<std::string*>(text); }) != 0)
      abort();
    return made;
  }();
  auto* text = static_cast<std::string*>(pthread_getspecific(key));
  if (text == nullptr) {
    text = new std::string;
    pthread_setspecific(key, text);
  }
  return *text;
}

}  // namespace

const TorchShim* FindTorch(std::string* why) {
  why->clear();
  if (loaded) return &shim;
  void* torch = dlopen("libtorch_cpu.so", RTLD_NOLOAD | RTLD_LAZY);
  if (torch == nullptr) return nullptr;
  loaded = Load(torch, &shim, why);
  return loaded ? &shim : nullptr;
}

const TorchShim& Torch() { return shim; }

OpwrightDType TorchShim::DType(int32_t torch) const {
  for (const DTypePair& pair : dtypes)
    if (pair.torch == torch) return pair.dtype;
  return {kUnknownDType, 8, 1};
}

// By PyTorch's numbers, which are also those in its files.
std::string_view TorchDTypeName(int32_t dtype) {
  const std::string_view kNames[] = {"complex32",
                                     "",
                                     "",
                                     "",
                                     "qint8",
                                     "quint8",
                                     "qint32",
                                     "",
                                     "quint4x2",
                                     "quint2x4",
                                     "bits1x8",
                                     "bits2x4",
                                     "bits4x2",
                                     "bits8",
                                     "bits16",
                                     "float8_e5m2",
                                     "float8_e4m3fn",
                                     "float8_e5m2fnuz",
                                     "float8_e4m3fnuz",
                                     "",
                                     "",
                                     "",
                                     "uint1",
                                     "uint2",
                                     "uint3",
                                     "uint4",
                                     "uint5",
                                     "uint6",
                                     "uint7",
                                     "int1",
                                     "int2",
                                     "int3",
                                     "int4",
                                     "int5",
                                     "int6",
                                     "int7",
                                     "float8_e8m0fnu",
                                     "float4_e2m1fn_x2"};
  constexpr int32_t kFirst = 8;
  const bool known = dtype >= kFirst && dtype < kFirst + static_cast<int32_t>(std::size(kNames));
  return known && !kNames[dtype - kFirst].empty() ? kNames[dtype - kFirst] : "unknown to Opwright";
}

int32_t TorchShim::TorchDType(OpwrightDType dtype) const {
  for (const DTypePair& pair : dtypes)
    if (pair.dtype == dtype) return pair.torch;
  return -1;
}

void TorchRaise(const std::string& message) {
  if (shim.last_error == nullptr) LastRaised() = message;
  shim.check(false, "opwright", "opwright", 0, message.c_str());
  abort();  // check has thrown
}

std::string TorchFailure(const TorchShim& torch, const std::string& otherwise) {
  const char* text = torch.last_error != nullptr ? torch.last_error() : LastRaised().c_str();
  return text == nullptr || *text == '\0' ? otherwise : text;
}

void ForgetTorchFailure(const TorchShim& torch) {
  if (torch.last_error == nullptr) LastRaised().clear();
}

}  // namespace opwright::entries

// SPDX-License-Identifier: Apache-2.0
//
// Stands in for PyTorch before 2.13, whose functions do not say why they fail: what the entry of an
// operator library needs of it, failing where a test says so. Throws what PyTorch would throw.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>
#include <string>

namespace {

using Kernel = void (*)(uint64_t*, uint64_t, uint64_t);

std::string failing;  // the function, and the operator of torch_call_dispatcher
std::map<std::string, Kernel> kernels;

int32_t Fails(const std::string& name) { return failing == name ? 1 : 0; }
int64_t sizes[1] = {1};
float data[1] = {1};

}  // namespace

extern "C" {

int32_t aoti_torch_library_init_fragment(const char*, const char*, uint32_t, void** library) {
  *library = strdup("");
  return 0;
}
int32_t aoti_torch_library_init_impl(const char*, const char* key, const char*, uint32_t,
                                     void** library) {
  *library = strdup(key);
  return Fails(std::string("init ") + key);
}
int32_t aoti_torch_library_def(void*, const char*) { return 0; }
int32_t torch_library_impl(void* library, const char* name, Kernel kernel, uint64_t) {
  const std::string key = static_cast<const char*>(library);
  kernels[key + " " + name] = kernel;
  return Fails("impl " + key);
}
int32_t aoti_torch_delete_library_object(void* library) {
  free(library);
  return 0;
}
int32_t torch_call_dispatcher(const char* name, const char*, uint64_t* stack, uint64_t) {
  if (Fails(name)) return 1;
  if (strcmp(name, "aten::is_leaf") == 0) stack[0] = 1;
  const std::string kernel =
      std::string("CPU ") + (strncmp(name, "opwright::", 10) == 0 ? name + 10 : "");
  const auto found = kernels.find(kernel);
  if (found == kernels.end()) return 0;
  try {
    found->second(stack, 0, 0);
  } catch (const std::exception&) {
    return 1;
  }
  return 0;
}

int32_t aoti_torch_get_dim(void*, int64_t* n) {
  *n = 1;
  return 0;
}
int32_t aoti_torch_get_sizes(void*, int64_t** p) {
  *p = sizes;
  return 0;
}
int32_t aoti_torch_get_strides(void*, int64_t** p) {
  *p = sizes;
  return 0;
}
int32_t aoti_torch_get_dtype(void*, int32_t* dtype) {
  *dtype = 6;
  return 0;
}
int32_t aoti_torch_get_data_ptr(void*, void** p) {
  *p = data;
  return 0;
}
int32_t aoti_torch_get_device_type(void*, int32_t* type) {
  *type = 0;
  return 0;
}
int32_t aoti_torch_get_layout(void*, int32_t* layout) {
  *layout = 0;
  return 0;
}
int32_t aoti_torch_empty_strided(int64_t, const int64_t*, const int64_t*, int32_t, int32_t, int32_t,
                                 void** made) {
  *made = malloc(1);
  return 0;
}
int32_t aoti_torch_is_defined(void*, bool* is_defined) {
  *is_defined = false;
  return Fails("is_defined");
}
int32_t aoti_torch_new_tensor_handle(void*, void** made) {
  *made = malloc(1);
  return Fails("new_handle");
}
int32_t aoti_torch_delete_tensor_object(void*) { return 0; }
int32_t torch_new_list_reserve_size(size_t, void**) { return 1; }
int32_t torch_list_size(void*, size_t*) { return 1; }
int32_t torch_list_get_item(void*, size_t, uint64_t*) { return 1; }
int32_t torch_list_push_back(void*, uint64_t) { return 1; }
int32_t torch_delete_list(void*) { return 0; }
int32_t torch_string_length(void*, size_t*) { return 1; }
int32_t torch_string_c_str(void*, const char**) { return 1; }
int32_t torch_delete_string(void*) { return 0; }
int32_t torch_parallel_for(int64_t, int64_t, int64_t, void (*)(int64_t, int64_t, void*), void*) {
  return 1;
}
bool aoti_torch_grad_mode_is_enabled() { return true; }
void aoti_torch_check(bool, const char*, const char*, uint32_t, const char* message) {
  throw std::runtime_error(message);
}
int32_t aoti_torch_dtype_float32() { return 6; }
int32_t aoti_torch_device_type_cpu() { return 0; }

void fake_fail(const char* what) { failing = what; }

// Calls the operator as autograd's key would, on one tensor; "" when it ends well.
const char* fake_call(const char* op) {
  static std::string text;
  text.clear();
  uint64_t stack[2] = {reinterpret_cast<uint64_t>(malloc(1)), 0};
  try {
    kernels.at(std::string("Autograd ") + op)(stack, 0, 0);
  } catch (const std::exception& error) {
    text = error.what();
  }
  return text.c_str();
}

}  // extern "C"

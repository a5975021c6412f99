// SPDX-License-Identifier: Apache-2.0
//
// PyTorch's stable C interface, found at run time in the process: no header of PyTorch, no link to
// it. Needs PyTorch 2.10 or newer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "opwright/c_api.h"

namespace opwright::entries {

using TorchHandle = void*;  // of a tensor, a list, a string, or a library
using TorchValue = uint64_t;  // one slot of a boxed call
using TorchKernel = void (*)(TorchValue*, uint64_t, uint64_t);

constexpr uint8_t kUnknownDType = 255;

// One member for each function used; a 0 return is success. Tensor slots of a boxed call own their
// handle: whoever takes the value frees it, and the dispatcher frees what it is given.
struct TorchShim {
  int32_t (*library_fragment)(const char* ns, const char* file, uint32_t line, TorchHandle*);
  int32_t (*library_impl)(const char* ns, const char* key, const char* file, uint32_t line,
                          TorchHandle*);
  int32_t (*define)(TorchHandle library, const char* schema);
  int32_t (*implement)(TorchHandle library, const char* name, TorchKernel, uint64_t version);
  int32_t (*delete_library)(TorchHandle library);
  int32_t (*call)(const char* name, const char* overload, TorchValue* stack, uint64_t version);

  int32_t (*get_dim)(TorchHandle, int64_t*);
  int32_t (*get_sizes)(TorchHandle, int64_t**);
  int32_t (*get_strides)(TorchHandle, int64_t**);
  int32_t (*get_dtype)(TorchHandle, int32_t*);
  int32_t (*get_data)(TorchHandle, void**);
  int32_t (*get_device_type)(TorchHandle, int32_t*);
  int32_t (*get_layout)(TorchHandle, int32_t*);
  int32_t (*empty_strided)(int64_t ndim, const int64_t* sizes, const int64_t* strides,
                           int32_t dtype, int32_t device_type, int32_t device_index, TorchHandle*);
  int32_t (*is_defined)(TorchHandle, bool*);
  int32_t (*new_handle)(TorchHandle, TorchHandle*);
  int32_t (*delete_tensor)(TorchHandle);

  int32_t (*new_list)(size_t reserve, TorchHandle*);
  int32_t (*list_size)(TorchHandle, size_t*);
  int32_t (*list_get)(TorchHandle, size_t, TorchValue*);
  int32_t (*list_push)(TorchHandle, TorchValue);
  int32_t (*delete_list)(TorchHandle);
  int32_t (*string_length)(TorchHandle, size_t*);
  int32_t (*string_data)(TorchHandle, const char**);
  int32_t (*delete_string)(TorchHandle);
  int32_t (*delete_optional)(TorchValue*);  // 2.13; null before

  int32_t (*parallel_for)(int64_t begin, int64_t end, int64_t grain,
                          void (*)(int64_t, int64_t, void*), void*);
  bool (*grad_enabled)();
  void (*check)(bool, const char* function, const char* file, uint32_t line, const char* message);
  const char* (*last_error)();  // 2.13; null before

  uint64_t version;  // of the interface that this code is written for
  int32_t cpu;
  int32_t meta;
  int32_t strided;

  OpwrightDType DType(int32_t torch) const;  // code kUnknownDType when there is none here
  int32_t TorchDType(OpwrightDType dtype) const;

  struct DTypePair {
    int32_t torch;
    OpwrightDType dtype;
  };
  DTypePair dtypes[15];
};

// Null when PyTorch is not in the process (why stays empty) or lacks a function (why names it).
const TorchShim* FindTorch(std::string* why);
// For calls that come from PyTorch itself.
const TorchShim& Torch();

// PyTorch's own name of a dtype that there is none of here.
std::string_view TorchDTypeName(int32_t dtype);

// Throws c10::Error with the message, which Python sees as a RuntimeError.
[[noreturn]] void TorchRaise(const std::string& message);

// Why a function of PyTorch has just failed on this thread. Before 2.13 PyTorch does not say: then
// it is what this library last raised on the thread, since ForgetTorchFailure; `otherwise` if
// neither is known.
std::string TorchFailure(const TorchShim& torch, const std::string& otherwise);
void ForgetTorchFailure(const TorchShim& torch);

}  // namespace opwright::entries

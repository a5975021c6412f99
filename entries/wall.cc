// SPDX-License-Identifier: Apache-2.0
//
// The wall around a kernel: nothing that it throws passes. Compiled here, with the standard
// headers, so that a kernel source needs none of them.
#include <exception>
#include <new>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "opwright/stub.h"
#include "opwright/view.h"
#include "runtime/c_error.h"

namespace {

using opwright::Error;
using opwright::MakeError;
using opwright::StrCat;

// The error of whatever is being handled now.
OpwrightError* Caught(std::string_view what) {
  try {
    throw;
  } catch (const opwright::KernelError& error) {
    return opwright::ToC(MakeError("CL012", error.message));
  } catch (const std::bad_alloc&) {
    return opwright::ToC(MakeError("CL010", StrCat(what, " ran out of memory (std::bad_alloc)")));
  } catch (const std::exception& error) {
    return opwright::ToC(MakeError("CL012", StrCat(what, " threw: ", error.what())));
  } catch (...) {
    return opwright::ToC(
        MakeError("CL012", StrCat(what, " threw something that is no std::exception")));
  }
}

template <class Function>
OpwrightError* Guarded(Function function, void* instance, const OpwrightCall* call,
                       std::string_view what) {
  try {
    const int32_t code = function(instance, call);
    if (code == 0) return nullptr;
    return opwright::ToC(MakeError("CL011", StrCat(what, " returned ", code)));
  } catch (...) {
    return Caught(what);
  }
}

}  // namespace

extern "C" {

OpwrightError* opwright_entry_create(const OpwrightKernel* kernel, void** instance) {
  try {
    *instance = kernel->create == nullptr ? nullptr : kernel->create();
    return nullptr;
  } catch (...) {
    return Caught("the constructor of the kernel class");
  }
}

OpwrightError* opwright_entry_compute(const OpwrightKernel* kernel, void* instance,
                                      const OpwrightCall* call) {
  return Guarded(kernel->compute, instance, call, "Compute");
}

OpwrightError* opwright_entry_infer_shape(const OpwrightKernel* kernel, void* instance,
                                          const OpwrightCall* call) {
  return Guarded(kernel->infer_shape, instance, call, "InferShape");
}

void* opwright_entry_hold() {
  return new (std::nothrow) std::exception_ptr(std::current_exception());
}

void opwright_entry_rethrow(void* held) {
  auto* pointer = static_cast<std::exception_ptr*>(held);
  const std::exception_ptr thrown = std::move(*pointer);
  delete pointer;
  std::rethrow_exception(thrown);
}

}  // extern "C"

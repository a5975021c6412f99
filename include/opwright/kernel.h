// SPDX-License-Identifier: Apache-2.0
//
// For kernel authors: write a class, or a function over views; the metadef beside it says the rest.
//
//   #include <opwright/kernel.h>
//
//   class ElementAddKernel : public opwright::OpKernelBase {
//    public:
//     opwright::Status Compute(const opwright::OpKernelInput& input,
//                              opwright::OpKernelOutput* output) override {
//       const auto& x = input.GetTensor(0);
//       const auto& y = input.GetTensor(1);
//       float* z = output->GetTensor(0)->Data<float>();
//       for (int64_t i = 0; i < x.Size(); ++i) z[i] = x.Data<float>()[i] + y.Data<float>()[i];
//       return opwright::SUCCESS;
//     }
//   };
//
// The class is the operator element_add: its name without a final Kernel, in snake_case.
// OPWRIGHT_KERNEL(op_name, Class) says it where that rule does not.
//
// Inputs are dense and row-major, outputs too; no pointer is aligned beyond its element. Compute is
// called on any thread, concurrently on one object. What it throws becomes an error with the
// operator's name. Empty outputs: when all of them are, the kernel is not called.
//
// No C++ standard header is included here: it keeps an edit at a few hundredths of a second.
#pragma once

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opwright/c_api.h"
#include "opwright/half.h"
#include "opwright/view.h"

namespace opwright {

enum StatusCode : int32_t { SUCCESS = 0, FAILED = 1 };

// What Compute returns: SUCCESS, or Status::Error with a printf format.
class [[nodiscard]] Status {
 public:
  Status(StatusCode code) : code_(code) {}  // NOLINT: `return SUCCESS;` is the form
  Status(Status&& other) noexcept : code_(other.code_), message_(other.message_) {
    other.message_ = nullptr;
  }
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;
  Status& operator=(Status&& other) noexcept {
    if (this != &other) {
      free(message_);
      code_ = other.code_;
      message_ = other.message_;
      other.message_ = nullptr;
    }
    return *this;
  }
  ~Status() { free(message_); }

  __attribute__((format(printf, 1, 2))) static Status Error(const char* format, ...) {
    Status status(FAILED);
    va_list args;
    va_start(args, format);
    if (vasprintf(&status.message_, format, args) < 0) status.message_ = nullptr;
    va_end(args);
    return status;
  }

  bool Ok() const { return code_ == SUCCESS; }
  StatusCode Code() const { return code_; }
  const char* Message() const { return message_ ? message_ : Ok() ? "success" : "failed"; }

 private:
  StatusCode code_;
  char* message_ = nullptr;
};

// A tensor. kWritable: Data() of a const Tensor is not const, as the acl form has it.
template <bool kWritable>
class BasicTensor {
 public:
  // The first element. Throws KernelError if T is not the tensor's dtype.
  template <class T>
  typename detail::If<kWritable, T, typename detail::AddConst<T>::Type>::Type* Data() const {
    return Pointer<T>();
  }
  template <class T>
  T* Data() {
    return Pointer<T>();
  }
  // The number of elements.
  int64_t Size() const { return detail::NumElements(tensor_); }
  List<int64_t> Shape() const { return {tensor_.shape, tensor_.ndim}; }
  // In elements; always those of a dense row-major tensor.
  List<int64_t> Strides() const { return {tensor_.strides, tensor_.ndim}; }
  OpwrightDType DType() const { return tensor_.dtype; }

 private:
  template <class T>
  T* Pointer() const {
    detail::RequireDType<typename detail::RemoveConst<T>::Type>(tensor_.dtype);
    return reinterpret_cast<T*>(static_cast<char*>(tensor_.data) + tensor_.byte_offset);
  }

  OpwrightTensor tensor_;
};

// The tensors of a dynamic input or output.
template <class TensorT>
class TensorList {
 public:
  TensorList(TensorT* tensors, int64_t count) : tensors_(tensors), count_(count) {}
  int64_t Size() const { return count_; }
  TensorT& operator[](int64_t i) const { return tensors_[i]; }
  TensorT* begin() const { return tensors_; }
  TensorT* end() const { return tensors_ + count_; }

 private:
  TensorT* tensors_;
  int64_t count_;
};

template <bool kWritable>
class BasicInput {
 public:
  using TensorT = BasicTensor<kWritable>;
  explicit BasicInput(const OpwrightCall* call) : call_(call) {}

  // Input i in metadef order. Throws KernelError when there is none.
  const TensorT& GetTensor(int32_t i) const {
    const OpwrightArgument& argument = detail::Input(call_, i);
    if (argument.count < 1) detail::ThrowAbsent(i);
    return *reinterpret_cast<const TensorT*>(argument.tensors);
  }
  // Whether an optional input was given.
  bool Has(int32_t i) const { return detail::Input(call_, i).count > 0; }
  TensorList<const TensorT> GetList(int32_t i) const {
    const OpwrightArgument& argument = detail::Input(call_, i);
    return {reinterpret_cast<const TensorT*>(argument.tensors), argument.count};
  }
  // T: int64_t, int32_t, double, float, bool, const char*, or List<T> of int64_t, double,
  // const char*. Throws KernelError when the metadef has no such attribute, or another type.
  template <class T>
  T Attr(const char* name) const {
    return detail::AttrAs<T>(call_, name);
  }
  // body(begin, end) for the parts of [0, n), each of at least grain items, on the host's threads.
  // The parts never depend on the number of threads. What body throws is thrown here.
  template <class Body>
  void ParallelFor(int64_t n, int64_t grain, const Body& body) const {
    detail::ParallelFor(call_, n, grain, body);
  }
  // 64-byte aligned memory until the call ends. Throws KernelError when there is none.
  void* Scratch(size_t bytes) const { return detail::Scratch(call_, bytes); }

 private:
  const OpwrightCall* call_;
};

template <bool kWritable>
class BasicOutput {
 public:
  using TensorT = BasicTensor<kWritable>;
  explicit BasicOutput(const OpwrightCall* call) : call_(call) {}

  // Output i in metadef order; null when it is optional and unwanted.
  TensorT* GetTensor(int32_t i) const {
    const OpwrightArgument& argument = detail::Output(call_, i);
    return argument.count < 1 ? nullptr : reinterpret_cast<TensorT*>(argument.tensors);
  }
  TensorList<TensorT> GetList(int32_t i) const {
    const OpwrightArgument& argument = detail::Output(call_, i);
    return {reinterpret_cast<TensorT*>(argument.tensors), argument.count};
  }

 private:
  const OpwrightCall* call_;
};

class InferOutput {
 public:
  explicit InferOutput(const OpwrightCall* call) : call_(call) {}
  void SetShape(int32_t output, List<int64_t> shape) {
    call_->set_shape(call_->frame, output, static_cast<int32_t>(shape.Size()), shape.Data());
  }
  // No short names here: -DN=2 is a user's flag.
  template <size_t kRank>
  void SetShape(int32_t output, const int64_t (&dims)[kRank]) {
    SetShape(output, List<int64_t>(dims, kRank));
  }

 private:
  const OpwrightCall* call_;
};

template <bool kWritable>
class BasicKernel {
 public:
  using Input = BasicInput<kWritable>;
  using Output = BasicOutput<kWritable>;

  virtual ~BasicKernel() = default;
  virtual Status Compute(const Input& input, Output* output) = 0;
  // Needed where the metadef's shape_rule is "kernel".
  virtual Status InferShape(const Input&, InferOutput*) {
    return Status::Error("the class has no InferShape");
  }
};

using Tensor = BasicTensor<false>;
using OpKernelInput = BasicInput<false>;
using OpKernelOutput = BasicOutput<false>;
using InferInput = OpKernelInput;
using OpKernelBase = BasicKernel<false>;

namespace detail {

inline int32_t Report(const OpwrightCall* call, const Status& status) {
  if (status.Ok()) return 0;
  call->fail(call->frame, status.Message());
  return static_cast<int32_t>(status.Code());
}

// Through the base class, and not inlined: the kernel's own code is compiled once, for its vtable.
template <bool kWritable>
__attribute__((noinline)) int32_t RunCompute(BasicKernel<kWritable>* kernel,
                                             const OpwrightCall* call) {
  const BasicInput<kWritable> input(call);
  BasicOutput<kWritable> output(call);
  return Report(call, kernel->Compute(input, &output));
}

template <class Class>
struct ClassKernel {
  static void* Create() { return new Class(); }
  static void Destroy(void* instance) { delete static_cast<Class*>(instance); }
  static int32_t Compute(void* instance, const OpwrightCall* call) {
    return RunCompute(BaseOf(static_cast<Class*>(instance)), call);
  }
  static int32_t InferShape(void* instance, const OpwrightCall* call) {
    const typename Class::Input input(call);
    InferOutput output(call);
    return Report(call, static_cast<Class*>(instance)->InferShape(input, &output));
  }
  template <bool kWritable>
  static BasicKernel<kWritable>* BaseOf(BasicKernel<kWritable>* kernel) {
    return kernel;
  }
};

// For a class that derives its own InferShape, &Class::InferShape is a member of Class, else of the
// base: that is how the table knows whether there is one.
template <class Member>
struct OwnerOf;
template <class Result, class Owner, class... Args>
struct OwnerOf<Result (Owner::*)(Args...)> {
  using Type = Owner;
};
template <class A, class B>
struct IsSame {
  static constexpr bool kValue = false;
};
template <class A>
struct IsSame<A, A> {
  static constexpr bool kValue = true;
};
template <class Class>
constexpr bool HasOwnInferShape() {
  return !IsSame<typename OwnerOf<decltype(&Class::InferShape)>::Type,
                 BasicKernel<false>>::kValue &&
         !IsSame<typename OwnerOf<decltype(&Class::InferShape)>::Type, BasicKernel<true>>::kValue;
}

template <bool kCondition>
struct EnableIf {};
template <>
struct EnableIf<true> {
  using Type = void;
};
// Whether a function takes arguments: see OPWRIGHT_FUNCTION.
struct Yes {
  static constexpr bool kValue = true;
};
struct No {
  static constexpr bool kValue = false;
};
template <class T>
const T& Sample();
// Stands for an attribute of type T where it is tried whether a parameter is of another type, to
// which T would silently be converted.
template <class T>
struct Other {
  template <class U, class = typename EnableIf<!IsSame<T, U>::kValue && !__is_class(U)>::Type>
  operator U() const;  // NOLINT: implicit is what is tried
};
// What only a parameter of any type takes.
struct Anything {};

}  // namespace detail
}  // namespace opwright

// Makes Class the kernel of the operator op_name. At namespace scope, after the class.
#define OPWRIGHT_KERNEL(op_name, Class)                                                        \
  extern "C" {                                                                                 \
  extern __attribute__((visibility("hidden"))) const OpwrightKernel opwright_kernel_##op_name; \
  const OpwrightKernel opwright_kernel_##op_name = {                                           \
      sizeof(OpwrightKernel),                                                                  \
      #op_name,                                                                                \
      &::opwright::detail::ClassKernel<Class>::Create,                                         \
      &::opwright::detail::ClassKernel<Class>::Destroy,                                        \
      &::opwright::detail::ClassKernel<Class>::Compute,                                        \
      ::opwright::detail::HasOwnInferShape<Class>()                                            \
          ? &::opwright::detail::ClassKernel<Class>::InferShape                                \
          : nullptr,                                                                           \
      0,                                                                                       \
      0,                                                                                       \
      nullptr};                                                                                \
  }

// Makes the function or function template `function` the kernel of op_name. It takes, in metadef
// order, View<const T> for each input, View<T> for one that "mutates" lists and for each output
// (ViewList for dynamic ones), then the attributes; it returns void or Status. At namespace scope,
// after the function. The build makes one instance for each dtype column of the metadef.
#define OPWRIGHT_FUNCTION(op_name, function)                                                 \
  struct opwright_function_##op_name {                                                       \
    template <class... Args>                                                                 \
    static auto Fits(int) -> decltype((void)function(::opwright::detail::Sample<Args>()...), \
                                      ::opwright::detail::Yes());                            \
    template <class... Args>                                                                 \
    static ::opwright::detail::No Fits(...);                                                 \
    template <class... Args>                                                                 \
    static ::opwright::Status Call(const Args&... args) {                                    \
      if constexpr (__is_same(decltype(function(args...)), void)) {                          \
        function(args...);                                                                   \
        return ::opwright::SUCCESS;                                                          \
      } else {                                                                               \
        return function(args...);                                                            \
      }                                                                                      \
    }                                                                                        \
  };

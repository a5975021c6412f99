// SPDX-License-Identifier: Apache-2.0
//
// The views that kernels see data through: List, View, ViewList, and how they are taken from a
// call. Included by kernel.h; no C++ standard header.
#pragma once

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "opwright/c_api.h"
#include "opwright/half.h"

/* Of the archive in every operator library: the exception that is being handled, held for another
 * thread (null without memory), and thrown there, which frees it. */
extern "C" {
__attribute__((visibility("hidden"))) void* opwright_entry_hold();
[[noreturn]] __attribute__((visibility("hidden"))) void opwright_entry_rethrow(void* held);
}

namespace opwright {

// A fixed number of values that somebody else owns.
template <class T>
class List {
 public:
  List(const T* data, int64_t size) : data_(data), size_(size) {}
  const T* Data() const { return data_; }
  int64_t Size() const { return size_; }
  T operator[](int64_t i) const { return data_[i]; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

 private:
  const T* data_;
  int64_t size_;
};

// Thrown by the accessors; becomes the call's error.
struct KernelError {
  char message[256];
  __attribute__((format(printf, 2, 3))) explicit KernelError(const char* format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
  }
};

// For what only a mistake runs: once in the object, not at each place that checks. A kernel that
// asks for a dozen tensors compiles in two thirds of the time.
#define OPWRIGHT_COLD inline __attribute__((noinline, cold))

namespace detail {

template <bool kCondition, class A, class B>
struct If {
  using Type = A;
};
template <class A, class B>
struct If<false, A, B> {
  using Type = B;
};
template <class T>
struct AddConst {
  using Type = const T;
};
template <class T>
struct RemoveConst {
  using Type = T;
};
template <class T>
struct RemoveConst<const T> {
  using Type = T;
};

// The DLPack type of a C++ type, with its name as numpy spells it.
template <class T>
struct DTypeOf;
#define OPWRIGHT_DTYPE_OF(T, code, bits, text)               \
  template <>                                                \
  struct DTypeOf<T> {                                        \
    static constexpr OpwrightDType kValue = {code, bits, 1}; \
    static constexpr const char* kName = text;               \
  };
OPWRIGHT_DTYPE_OF(float, kOpwrightFloat, 32, "float32")
OPWRIGHT_DTYPE_OF(double, kOpwrightFloat, 64, "float64")
OPWRIGHT_DTYPE_OF(float16, kOpwrightFloat, 16, "float16")
OPWRIGHT_DTYPE_OF(bfloat16, kOpwrightBfloat, 16, "bfloat16")
OPWRIGHT_DTYPE_OF(int8_t, kOpwrightInt, 8, "int8")
OPWRIGHT_DTYPE_OF(int16_t, kOpwrightInt, 16, "int16")
OPWRIGHT_DTYPE_OF(int32_t, kOpwrightInt, 32, "int32")
OPWRIGHT_DTYPE_OF(int64_t, kOpwrightInt, 64, "int64")
OPWRIGHT_DTYPE_OF(long long, kOpwrightInt, 64, "int64")
OPWRIGHT_DTYPE_OF(uint8_t, kOpwrightUInt, 8, "uint8")
OPWRIGHT_DTYPE_OF(uint16_t, kOpwrightUInt, 16, "uint16")
OPWRIGHT_DTYPE_OF(uint32_t, kOpwrightUInt, 32, "uint32")
OPWRIGHT_DTYPE_OF(uint64_t, kOpwrightUInt, 64, "uint64")
OPWRIGHT_DTYPE_OF(unsigned long long, kOpwrightUInt, 64, "uint64")
OPWRIGHT_DTYPE_OF(bool, kOpwrightBool, 8, "bool")
OPWRIGHT_DTYPE_OF(float _Complex, kOpwrightComplex, 64, "complex64")
OPWRIGHT_DTYPE_OF(double _Complex, kOpwrightComplex, 128, "complex128")
#undef OPWRIGHT_DTYPE_OF

OPWRIGHT_COLD const char* DTypeName(OpwrightDType dtype) {
  static const char* const kInts[] = {"int8", "int16", "int32", "int64"};
  static const char* const kUInts[] = {"uint8", "uint16", "uint32", "uint64"};
  const int log = dtype.bits == 8 ? 0 : dtype.bits == 16 ? 1 : dtype.bits == 32 ? 2 : 3;
  switch (dtype.code) {
    case kOpwrightInt:
      return kInts[log];
    case kOpwrightUInt:
      return kUInts[log];
    case kOpwrightFloat:
      return dtype.bits == 16 ? "float16" : dtype.bits == 32 ? "float32" : "float64";
    case kOpwrightBfloat:
      return "bfloat16";
    case kOpwrightComplex:
      return dtype.bits == 64 ? "complex64" : "complex128";
    case kOpwrightBool:
      return "bool";
    default:
      return "an unknown dtype";
  }
}

[[noreturn]] OPWRIGHT_COLD void ThrowDType(const char* wanted, OpwrightDType dtype) {
  throw KernelError(
      "Data<%s>() of a %s tensor: ask DType(), or list only the dtypes that the kernel handles "
      "in the metadef",
      wanted, DTypeName(dtype));
}
[[noreturn]] OPWRIGHT_COLD void ThrowIndex(const char* what, int32_t i, int32_t n) {
  throw KernelError("%s %d of %d asked for: the metadef lists them from 0", what, i, n);
}
[[noreturn]] OPWRIGHT_COLD void ThrowAbsent(int32_t i) {
  throw KernelError("input %d is absent: ask Has(%d) first", i, i);
}
[[noreturn]] OPWRIGHT_COLD void ThrowNoScratch(size_t bytes) {
  throw KernelError("no memory for %zu bytes of scratch", bytes);
}
// Of an attribute of this type in the metadef, which the kernel reads as another one.
[[noreturn]] OPWRIGHT_COLD void ThrowAttrType(const char* name, int32_t type) {
  static const char* const kRead[] = {
      "OpwrightAttr",      "int64_t",       "double",       "const char*",       "bool",
      "const char*",       "List<int64_t>", "List<double>", "List<const char*>", "List<int64_t>",
      "List<OpwrightAttr>"};
  const bool known = type >= 0 && type < static_cast<int32_t>(sizeof kRead / sizeof kRead[0]);
  throw KernelError("attribute %s has another type in the metadef: it is read as %s", name,
                    kRead[known ? type : 0]);
}
[[noreturn]] OPWRIGHT_COLD void ThrowNoAttr(const OpwrightOpDef* def, const char* name) {
  char names[160] = "no attributes";
  size_t length = 0;
  for (int32_t i = 0; i < def->num_attrs && length < sizeof names; ++i)
    length += static_cast<size_t>(snprintf(names + length, sizeof names - length, "%s%s",
                                           i > 0 ? ", " : "", def->attrs[i]->name));
  throw KernelError("attribute %.64s is not in the metadef, which lists %s", name, names);
}
[[noreturn]] OPWRIGHT_COLD void ThrowMessage(const char* message) {
  throw KernelError("%s", message);
}
#undef OPWRIGHT_COLD

template <class T>
void RequireDType(OpwrightDType dtype) {
  constexpr OpwrightDType kWanted = DTypeOf<T>::kValue;
  if (dtype.code != kWanted.code || dtype.bits != kWanted.bits || dtype.lanes != 1)
    ThrowDType(DTypeOf<T>::kName, dtype);
}

inline const OpwrightArgument& Input(const OpwrightCall* call, int32_t i) {
  if (i < 0 || i >= call->num_inputs) ThrowIndex("input", i, call->num_inputs);
  return call->inputs[i];
}

inline const OpwrightArgument& Output(const OpwrightCall* call, int32_t i) {
  if (i < 0 || i >= call->num_outputs) ThrowIndex("output", i, call->num_outputs);
  return call->outputs[i];
}

inline const OpwrightAttr& FindAttr(const OpwrightCall* call, const char* name, int32_t type,
                                    int32_t other_type) {
  for (int32_t i = 0; i < call->num_attrs; ++i) {
    if (strcmp(call->def->attrs[i]->name, name) != 0) continue;
    const OpwrightAttr& attr = call->attrs[i];
    if (attr.type != type && attr.type != other_type) ThrowAttrType(name, attr.type);
    return attr;
  }
  ThrowNoAttr(call->def, name);
}

inline int32_t NarrowAttr(const OpwrightAttr& attr) {
  if (attr.value.i != static_cast<int32_t>(attr.value.i))
    throw KernelError("an attribute is %lld, which an int32_t does not hold",
                      static_cast<long long>(attr.value.i));
  return static_cast<int32_t>(attr.value.i);
}

template <class T>
struct AttrReader {
  static_assert(sizeof(T) == 0,
                "an attribute is read as int64_t, int32_t, double, float, bool or const char*, "
                "or as opwright::List of int64_t, double, const char* or OpwrightAttr");
};
#define OPWRIGHT_ATTR_READER(T, type, other, expression)        \
  template <>                                                   \
  struct AttrReader<T> {                                        \
    static T Read(const OpwrightAttr& a) { return expression; } \
    static constexpr int32_t kType = type;                      \
    static constexpr int32_t kOther = other;                    \
  };
OPWRIGHT_ATTR_READER(int64_t, kOpwrightAttrInt, kOpwrightAttrInt, a.value.i)
OPWRIGHT_ATTR_READER(int32_t, kOpwrightAttrInt, kOpwrightAttrInt, NarrowAttr(a))
OPWRIGHT_ATTR_READER(double, kOpwrightAttrFloat, kOpwrightAttrFloat, a.value.f)
OPWRIGHT_ATTR_READER(float, kOpwrightAttrFloat, kOpwrightAttrFloat, static_cast<float>(a.value.f))
OPWRIGHT_ATTR_READER(bool, kOpwrightAttrBool, kOpwrightAttrBool, a.value.i != 0)
OPWRIGHT_ATTR_READER(const char*, kOpwrightAttrString, kOpwrightAttrType, a.value.s)
#define OPWRIGHT_AS_LIST(...) \
  List<__VA_ARGS__>(static_cast<__VA_ARGS__ const*>(a.value.data), a.size)
OPWRIGHT_ATTR_READER(List<int64_t>, kOpwrightAttrListInt, kOpwrightAttrListBool,
                     OPWRIGHT_AS_LIST(int64_t))
OPWRIGHT_ATTR_READER(List<double>, kOpwrightAttrListFloat, kOpwrightAttrListFloat,
                     OPWRIGHT_AS_LIST(double))
OPWRIGHT_ATTR_READER(List<const char*>, kOpwrightAttrListString, kOpwrightAttrListString,
                     OPWRIGHT_AS_LIST(const char*))
OPWRIGHT_ATTR_READER(List<OpwrightAttr>, kOpwrightAttrListListInt, kOpwrightAttrListListInt,
                     OPWRIGHT_AS_LIST(OpwrightAttr))
#undef OPWRIGHT_AS_LIST
#undef OPWRIGHT_ATTR_READER

template <class T>
T AttrAs(const OpwrightCall* call, const char* name) {
  return AttrReader<T>::Read(FindAttr(call, name, AttrReader<T>::kType, AttrReader<T>::kOther));
}

// Attribute i, for the build's generated code, which knows attributes by their place.
template <class T>
T AttrAt(const OpwrightCall* call, int32_t i) {
  if (i < 0 || i >= call->num_attrs)
    throw KernelError("the kernel was built for an attribute %d and the metadef lists %d of them",
                      i, call->num_attrs);
  const OpwrightAttr& attr = call->attrs[i];
  if (attr.type != AttrReader<T>::kType && attr.type != AttrReader<T>::kOther)
    throw KernelError("attribute %s has another type than the kernel was built for",
                      call->def->attrs[i]->name);
  return AttrReader<T>::Read(attr);
}

// Not inlined: the compiler would vectorize these few steps at each place that asks for a size.
inline __attribute__((noinline, pure)) int64_t NumElements(const OpwrightTensor& tensor) {
  int64_t n = 1;
  for (int32_t k = 0; k < tensor.ndim; ++k) n *= tensor.shape[k];
  return n;
}

// How ParallelFor splits [0, n): by n and grain alone, so that results depend neither on the number
// of threads nor on whose they are.
struct Parts {
  static constexpr int64_t kMost = 64;

  Parts(int64_t n, int64_t grain) : n_(n), count_(n / (grain < 1 ? 1 : grain)) {
    count_ = count_ < 1 ? 1 : count_ > kMost ? kMost : count_;
  }
  int64_t count() const { return count_; }
  int64_t begin(int64_t part) const {
    const int64_t rest = n_ % count_;
    return n_ / count_ * part + (part < rest ? part : rest);
  }

 private:
  int64_t n_;
  int64_t count_;
};

// One loop over parts, of any body: carries it over the C boundary of the host's parallel_for,
// which shares out the numbers of the parts, and the first thing that it throws back.
struct ParallelLoop {
  using Function = void (*)(const void* body, const Parts& parts, int64_t begin, int64_t end);

  Function function;
  const void* body;
  Parts parts;
  int32_t failed;
  void* thrown;

  static void Run(void* self_pointer, int64_t begin, int64_t end) {
    auto* self = static_cast<ParallelLoop*>(self_pointer);
    try {
      self->function(self->body, self->parts, begin, end);
    } catch (...) {
      if (__atomic_exchange_n(&self->failed, 1, __ATOMIC_ACQ_REL) == 0)
        self->thrown = opwright_entry_hold();
    }
  }
};

inline __attribute__((noinline)) void RunLoop(const OpwrightCall* call, int64_t n, int64_t grain,
                                              ParallelLoop::Function function, const void* body) {
  if (n <= 0) return;
  const Parts parts(n, grain);
  if (call->host == nullptr || parts.count() == 1) return function(body, parts, 0, parts.count());
  ParallelLoop loop{function, body, parts, 0, nullptr};
  call->host->parallel_for(call->host->context, parts.count(), 1, &ParallelLoop::Run, &loop);
  if (loop.thrown != nullptr) opwright_entry_rethrow(loop.thrown);
  if (loop.failed != 0)
    throw KernelError("the body of ParallelFor threw, and there is no memory to say what");
}

// The one copy of a body's code, for the caller's thread and all others.
template <class Body>
void RunParts(const void* body, const Parts& parts, int64_t begin, int64_t end) {
  for (int64_t part = begin; part < end; ++part)
    (*static_cast<const Body*>(body))(parts.begin(part), parts.begin(part + 1));
}

template <class Body>
void ParallelFor(const OpwrightCall* call, int64_t n, int64_t grain, const Body& body) {
  RunLoop(call, n, grain, &RunParts<Body>, &body);
}

inline void* Scratch(const OpwrightCall* call, size_t bytes) {
  void* memory = call->scratch(call->frame, bytes);
  if (memory == nullptr) ThrowNoScratch(bytes);
  return memory;
}

}  // namespace detail

// A tensor with its strides, in elements. An input named in the metadef's broadcast(...) is
// expanded to the common shape: stride 0 where it repeats. T is const for an input, unless the
// metadef lists it in "mutates".
template <class T>
class View {
 public:
  View() = default;
  explicit View(const OpwrightTensor& tensor) : tensor_(&tensor) {
    detail::RequireDType<typename detail::RemoveConst<T>::Type>(tensor.dtype);
    data_ = reinterpret_cast<T*>(static_cast<char*>(tensor.data) + tensor.byte_offset);
  }
  // False for an optional input that was not given, or an unwanted optional output.
  explicit operator bool() const { return tensor_ != nullptr; }
  int32_t Rank() const { return tensor_->ndim; }
  int64_t Dim(int32_t k) const { return tensor_->shape[k]; }
  int64_t Stride(int32_t k) const { return tensor_->strides[k]; }
  int64_t Size() const { return detail::NumElements(*tensor_); }
  T* Data() const { return data_; }
  // The element at the indices, one for each dimension.
  template <class... Index>
  T& operator()(Index... index) const {
    const int64_t at[] = {static_cast<int64_t>(index)..., 0};
    int64_t offset = 0;
    for (int32_t k = 0; k < static_cast<int32_t>(sizeof...(index)); ++k)
      offset += at[k] * Stride(k);
    return data_[offset];
  }

 private:
  const OpwrightTensor* tensor_ = nullptr;
  T* data_ = nullptr;
};

// The views of a dynamic input or output.
template <class T>
class ViewList {
 public:
  explicit ViewList(const OpwrightArgument& argument) : argument_(&argument) {}
  int64_t Size() const { return argument_->count; }
  View<T> operator[](int64_t i) const { return View<T>(argument_->tensors[i]); }

 private:
  const OpwrightArgument* argument_;
};

namespace detail {

// How the build's generated code takes the arguments of a function kernel.
template <class T>
View<T> ViewOf(const OpwrightArgument& argument) {
  return argument.count < 1 ? View<T>() : View<T>(argument.tensors[0]);
}
template <class T>
View<const T> InputView(const OpwrightCall* call, int32_t i) {
  return ViewOf<const T>(Input(call, i));
}
template <class T>
View<T> OutputView(const OpwrightCall* call, int32_t i) {
  return ViewOf<T>(Output(call, i));
}
// Of an input that the metadef lists in "mutates".
template <class T>
View<T> WrittenView(const OpwrightCall* call, int32_t i) {
  return ViewOf<T>(Input(call, i));
}
template <class T>
ViewList<T> WrittenList(const OpwrightCall* call, int32_t i) {
  return ViewList<T>(Input(call, i));
}
template <class T>
ViewList<const T> InputList(const OpwrightCall* call, int32_t i) {
  return ViewList<const T>(Input(call, i));
}
template <class T>
ViewList<T> OutputList(const OpwrightCall* call, int32_t i) {
  return ViewList<T>(Output(call, i));
}

}  // namespace detail
}  // namespace opwright

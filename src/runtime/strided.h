// SPDX-License-Identifier: Apache-2.0
//
// Memory of tensors: dense or not, element counts, and copies between any strides and dtypes.
#pragma once

#include <cstdint>
#include <string>

#include "base/dtype.h"
#include "opwright/c_api.h"

namespace opwright {

// The small ones are inline: a call of a few elements spends its time in them.

inline int64_t NumElements(int32_t ndim, const int64_t* shape) {
  int64_t n = 1;
  for (int32_t k = 0; k < ndim; ++k) n *= shape[k];
  return n;
}
inline int64_t NumElements(const OpwrightTensor& t) { return NumElements(t.ndim, t.shape); }

// No negative dimension, and no more elements of 16 bytes than memory can have.
inline bool IsPossibleShape(int32_t ndim, const int64_t* shape) {
  int64_t bytes = 16;
  for (int32_t k = 0; k < ndim; ++k)
    if (shape[k] < 0 || __builtin_mul_overflow(bytes, shape[k] > 1 ? shape[k] : 1, &bytes))
      return false;
  return true;
}

inline bool IsSameShape(int32_t a_ndim, const int64_t* a, int32_t b_ndim, const int64_t* b) {
  if (a_ndim != b_ndim) return false;
  for (int32_t k = 0; k < a_ndim; ++k)
    if (a[k] != b[k]) return false;
  return true;
}

// Row-major without gaps. Strides of dimensions of size 1, and of empty tensors, mean nothing.
inline bool IsDense(const OpwrightTensor& t) {
  if (t.strides == nullptr) return true;
  int64_t expected = 1;
  for (int32_t k = t.ndim - 1; k >= 0; --k) {
    if (t.shape[k] == 0) return true;
    if (t.shape[k] == 1) continue;
    if (t.strides[k] != expected) return NumElements(t) == 0;
    expected *= t.shape[k];
  }
  return true;
}

// Dense, with the very strides that DenseStrides gives.
inline bool HasDenseStrides(const OpwrightTensor& t) {
  if (t.strides == nullptr) return t.ndim == 0;
  int64_t stride = 1;
  for (int32_t k = t.ndim - 1; k >= 0; --k) {
    if (t.strides[k] != stride) return false;
    stride *= t.shape[k] > 1 ? t.shape[k] : 1;
  }
  return true;
}

// Whether two elements may lie in one place: a stride of zero, or one that others add up to.
bool RepeatsMemory(const OpwrightTensor& t);

inline void DenseStrides(int32_t ndim, const int64_t* shape, int64_t* strides) {
  int64_t stride = 1;
  for (int32_t k = ndim - 1; k >= 0; --k) {
    strides[k] = stride;
    stride *= shape[k] > 1 ? shape[k] : 1;
  }
}

inline char* DataOf(const OpwrightTensor& t) { return static_cast<char*>(t.data) + t.byte_offset; }

// As a kernel may expect it. Item sizes are powers of two.
inline bool IsAligned(const OpwrightTensor& t) {
  const int64_t item = ItemSize(t.dtype);
  const auto alignment = static_cast<uintptr_t>(item < 8 ? item : 8);
  return (reinterpret_cast<uintptr_t>(DataOf(t)) & (alignment - 1)) == 0;
}

// The bytes that the elements lie in, [begin, end); begin == end for an empty tensor.
struct ByteRange {
  const char* begin;
  const char* end;
};
ByteRange BytesOfStrided(const OpwrightTensor& t);
inline ByteRange BytesOf(const OpwrightTensor& t) {
  if (!HasDenseStrides(t)) return BytesOfStrided(t);
  const char* const begin = DataOf(t);
  return {begin, begin + NumElements(t) * ItemSize(t.dtype)};
}

// Copies source to target, which have one shape; any strides, zero and negative ones too. Another
// dtype is converted: floats round to nearest even. The memory must not overlap.
void CopyTensor(const OpwrightTensor& source, const OpwrightTensor& target);

// Whether every element is 0, or -0. The tensor is dense.
bool IsZero(const OpwrightTensor& dense);

// "[2, 3]"
std::string ShapeText(int32_t ndim, const int64_t* shape);
inline std::string ShapeText(const OpwrightTensor& t) { return ShapeText(t.ndim, t.shape); }

}  // namespace opwright

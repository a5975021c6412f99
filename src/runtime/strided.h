// SPDX-License-Identifier: Apache-2.0
//
// Memory of tensors: dense or not, element counts, and copies between any strides and dtypes.
#pragma once

#include <cstdint>
#include <string>

#include "opwright/c_api.h"

namespace opwright {

int64_t NumElements(int32_t ndim, const int64_t* shape);
inline int64_t NumElements(const OpwrightTensor& t) { return NumElements(t.ndim, t.shape); }

// No negative dimension, and no more elements of 16 bytes than memory can have.
bool IsPossibleShape(int32_t ndim, const int64_t* shape);

// Row-major without gaps. Strides of dimensions of size 1, and of empty tensors, mean nothing.
bool IsDense(const OpwrightTensor& t);

// Whether two elements may lie in one place: a stride of zero, or one that others add up to.
bool RepeatsMemory(const OpwrightTensor& t);

void DenseStrides(int32_t ndim, const int64_t* shape, int64_t* strides);

inline char* DataOf(const OpwrightTensor& t) { return static_cast<char*>(t.data) + t.byte_offset; }

// The bytes that the elements lie in, [begin, end); begin == end for an empty tensor.
struct ByteRange {
  const char* begin;
  const char* end;
};
ByteRange BytesOf(const OpwrightTensor& t);

// Copies source to target, which have one shape; any strides, zero and negative ones too. Another
// dtype is converted: floats round to nearest even. The memory must not overlap.
void CopyTensor(const OpwrightTensor& source, const OpwrightTensor& target);

// "[2, 3]"
std::string ShapeText(int32_t ndim, const int64_t* shape);
inline std::string ShapeText(const OpwrightTensor& t) { return ShapeText(t.ndim, t.shape); }

}  // namespace opwright

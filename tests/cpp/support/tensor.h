// SPDX-License-Identifier: Apache-2.0
//
// Tensors for tests: memory of their own with any strides, and elements read and written as double
// by conversions that are not those under test.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "opwright/c_api.h"

namespace opwright::test {

inline constexpr OpwrightDType kF16 = {kOpwrightFloat, 16, 1};
inline constexpr OpwrightDType kBf16 = {kOpwrightBfloat, 16, 1};
inline constexpr OpwrightDType kF32 = {kOpwrightFloat, 32, 1};
inline constexpr OpwrightDType kF64 = {kOpwrightFloat, 64, 1};
inline constexpr OpwrightDType kI8 = {kOpwrightInt, 8, 1};
inline constexpr OpwrightDType kI32 = {kOpwrightInt, 32, 1};
inline constexpr OpwrightDType kI64 = {kOpwrightInt, 64, 1};
inline constexpr OpwrightDType kU8 = {kOpwrightUInt, 8, 1};
inline constexpr OpwrightDType kBool = {kOpwrightBool, 8, 1};
inline constexpr OpwrightDType kC64 = {kOpwrightComplex, 64, 1};
inline constexpr OpwrightDType kC128 = {kOpwrightComplex, 128, 1};
inline constexpr OpwrightDType kWeakInt = {kOpwrightInt, 64, 0};
inline constexpr OpwrightDType kWeakFloat = {kOpwrightFloat, 64, 0};

// One element as double; of a complex one the real part.
double ReadElement(const void* at, OpwrightDType dtype);
void WriteElement(void* at, OpwrightDType dtype, double value);

using Dims = std::vector<int64_t>;

class Tensor {
 public:
  // Dense, 1, 2, 3 ... in row-major order.
  Tensor(OpwrightDType dtype, Dims shape);
  Tensor(OpwrightDType dtype, Dims shape, std::initializer_list<double> values);
  // Any strides, in elements; the first element lies `offset` elements into `storage` elements.
  static Tensor Strided(OpwrightDType dtype, Dims shape, Dims strides, int64_t offset,
                        int64_t storage);
  static Tensor Weak(int64_t value);
  static Tensor Weak(double value);

  int64_t Size() const;
  // All elements in row-major order.
  std::vector<double> Values() const;
  void Fill(double value);
  void SetAll(const std::vector<double>& values);

  // Bytes between the memory's start and the first element.
  char* first() { return memory_.data() + kPad + offset_bytes_; }
  Tensor& WithoutStrides() {
    null_strides_ = true;
    return *this;
  }
  // The base pointer moved by `bytes`, the elements with it.
  Tensor& Misalign(int64_t bytes);
  // Splits the first element's address into data and byte_offset.
  Tensor& WithByteOffset(uint64_t bytes) {
    byte_offset_ = bytes;
    return *this;
  }

  OpwrightTensor raw();
  OpwrightDType dtype() const { return dtype_; }
  const Dims& shape() const { return shape_; }

 private:
  template <class Visit>
  void ForEach(const Visit& visit) const;
  static constexpr int64_t kPad = 64;

  OpwrightDType dtype_;
  Dims shape_;
  Dims strides_;
  std::vector<char> memory_;
  int64_t offset_bytes_ = 0;
  uint64_t byte_offset_ = 0;
  bool null_strides_ = false;
};

// One input or output of a call: none, one or several tensors.
class Arg {
 public:
  Arg() = default;  // absent
  Arg(Tensor& tensor) : tensors_{tensor.raw()} {}  // NOLINT
  Arg(std::initializer_list<Tensor*> tensors) {
    for (Tensor* tensor : tensors) tensors_.push_back(tensor->raw());
  }
  explicit Arg(OpwrightTensor raw) : tensors_{raw} {}
  OpwrightArgument raw() {
    return {tensors_.empty() ? nullptr : tensors_.data(), static_cast<int64_t>(tensors_.size())};
  }

 private:
  std::vector<OpwrightTensor> tensors_;
};
std::vector<OpwrightArgument> RawOf(std::vector<Arg>& args);

// Attribute values.
OpwrightAttr IntAttr(int64_t value);
OpwrightAttr FloatAttr(double value);
OpwrightAttr BoolAttr(bool value);
OpwrightAttr StringAttr(const char* value);

}  // namespace opwright::test

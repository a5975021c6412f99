// SPDX-License-Identifier: Apache-2.0
#include "support/tensor.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>

namespace opwright::test {
namespace {

template <class T>
double Read(const void* at) {
  T value;
  memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
}
template <class T>
void Write(void* at, double value) {
  const T converted = static_cast<T>(value);
  memcpy(at, &converted, sizeof converted);
}

// Long-hand: to the nearest multiple of the last place, ties to even.
uint16_t BfloatBits(double value) {
  if (std::isnan(value)) return 0x7fc0;
  const float nearest = static_cast<float>(value);
  uint32_t below = std::bit_cast<uint32_t>(nearest) & 0xffff0000u;
  const double low = std::bit_cast<float>(below);
  const double high = std::bit_cast<float>(below + 0x10000u);
  if (std::isinf(nearest)) return static_cast<uint16_t>(std::bit_cast<uint32_t>(nearest) >> 16);
  // Above the greatest finite number comes infinity, at the distance of one more place.
  const double half =
      std::isinf(high) ? std::ldexp(1.0, 119) : (std::fabs(high) - std::fabs(low)) / 2;
  const double rest = std::fabs(value) - std::fabs(low);
  const bool up = rest > half || (rest == half && ((below >> 16) & 1) != 0);
  return static_cast<uint16_t>((up ? below + 0x10000u : below) >> 16);
}

Dims DenseStridesOf(const Dims& shape) {
  Dims strides(shape.size());
  int64_t stride = 1;
  for (size_t k = shape.size(); k-- > 0;) {
    strides[k] = stride;
    stride *= shape[k];
  }
  return strides;
}

int64_t Product(const Dims& shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

}  // namespace

double ReadElement(const void* at, OpwrightDType dtype) {
  switch (dtype.code) {
    case kOpwrightFloat:
      return dtype.bits == 16   ? Read<_Float16>(at)
             : dtype.bits == 32 ? Read<float>(at)
                                : Read<double>(at);
    case kOpwrightBfloat: {
      uint16_t bits;
      memcpy(&bits, at, 2);
      return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
    }
    case kOpwrightComplex:
      return dtype.bits == 64 ? Read<float>(at) : Read<double>(at);
    case kOpwrightBool:
      return Read<bool>(at);
    case kOpwrightUInt:
      return dtype.bits == 8    ? Read<uint8_t>(at)
             : dtype.bits == 16 ? Read<uint16_t>(at)
             : dtype.bits == 32 ? Read<uint32_t>(at)
                                : Read<uint64_t>(at);
    default:
      return dtype.bits == 8    ? Read<int8_t>(at)
             : dtype.bits == 16 ? Read<int16_t>(at)
             : dtype.bits == 32 ? Read<int32_t>(at)
                                : Read<int64_t>(at);
  }
}

void WriteElement(void* at, OpwrightDType dtype, double value) {
  switch (dtype.code) {
    case kOpwrightFloat:
      if (dtype.bits == 16) return Write<_Float16>(at, value);
      return dtype.bits == 32 ? Write<float>(at, value) : Write<double>(at, value);
    case kOpwrightBfloat: {
      const uint16_t bits = BfloatBits(value);
      memcpy(at, &bits, 2);
      return;
    }
    case kOpwrightComplex:
      memset(at, 0, dtype.bits / 8);
      return dtype.bits == 64 ? Write<float>(at, value) : Write<double>(at, value);
    case kOpwrightBool:
      return Write<bool>(at, value);
    case kOpwrightUInt:
      return dtype.bits == 8    ? Write<uint8_t>(at, value)
             : dtype.bits == 16 ? Write<uint16_t>(at, value)
             : dtype.bits == 32 ? Write<uint32_t>(at, value)
                                : Write<uint64_t>(at, value);
    default:
      return dtype.bits == 8    ? Write<int8_t>(at, value)
             : dtype.bits == 16 ? Write<int16_t>(at, value)
             : dtype.bits == 32 ? Write<int32_t>(at, value)
                                : Write<int64_t>(at, value);
  }
}

Tensor::Tensor(OpwrightDType dtype, Dims shape)
    : dtype_(dtype), shape_(std::move(shape)), strides_(DenseStridesOf(shape_)) {
  memory_.resize(static_cast<size_t>(2 * kPad + Product(shape_) * (dtype.bits / 8)));
  double next = 0;
  ForEach([&](char* at) { WriteElement(at, dtype_, ++next); });
}

Tensor::Tensor(OpwrightDType dtype, Dims shape, std::initializer_list<double> values)
    : Tensor(dtype, std::move(shape)) {
  SetAll(values);
}

Tensor Tensor::Strided(OpwrightDType dtype, Dims shape, Dims strides, int64_t offset,
                       int64_t storage) {
  Tensor tensor(dtype, {storage});
  tensor.shape_ = std::move(shape);
  tensor.strides_ = std::move(strides);
  tensor.offset_bytes_ = offset * (dtype.bits / 8);
  return tensor;
}

Tensor Tensor::Weak(int64_t value) {
  Tensor tensor(kWeakInt, {});
  memcpy(tensor.first(), &value, sizeof value);
  return tensor;
}

Tensor Tensor::Weak(double value) {
  Tensor tensor(kWeakFloat, {});
  memcpy(tensor.first(), &value, sizeof value);
  return tensor;
}

template <class Visit>
void Tensor::ForEach(const Visit& visit) const {
  const int64_t size = Size();
  for (int64_t i = 0; i < size; ++i) {
    int64_t rest = i;
    int64_t offset = 0;
    for (size_t k = shape_.size(); k-- > 0;) {
      offset += rest % shape_[k] * strides_[k];
      rest /= shape_[k];
    }
    visit(const_cast<char*>(memory_.data()) + kPad + offset_bytes_ + offset * (dtype_.bits / 8));
  }
}

int64_t Tensor::Size() const { return Product(shape_); }

std::vector<double> Tensor::Values() const {
  std::vector<double> values;
  ForEach([&](const char* at) { values.push_back(ReadElement(at, dtype_)); });
  return values;
}

void Tensor::Fill(double value) {
  ForEach([&](char* at) { WriteElement(at, dtype_, value); });
}

void Tensor::SetAll(const std::vector<double>& values) {
  size_t next = 0;
  ForEach([&](char* at) { WriteElement(at, dtype_, values.at(next++)); });
}

Tensor& Tensor::Misalign(int64_t bytes) {
  memmove(first() + bytes, first(), static_cast<size_t>(Size()) * (dtype_.bits / 8));
  offset_bytes_ += bytes;
  return *this;
}

OpwrightTensor Tensor::raw() {
  return {first() - byte_offset_,
          1,
          0,
          static_cast<int32_t>(shape_.size()),
          dtype_,
          shape_.data(),
          null_strides_ ? nullptr : strides_.data(),
          byte_offset_};
}

std::vector<OpwrightArgument> RawOf(std::vector<Arg>& args) {
  std::vector<OpwrightArgument> raw;
  for (Arg& arg : args) raw.push_back(arg.raw());
  return raw;
}

OpwrightAttr IntAttr(int64_t value) {
  OpwrightAttr attr = {kOpwrightAttrInt, 0, 0, {}};
  attr.value.i = value;
  return attr;
}
OpwrightAttr FloatAttr(double value) {
  OpwrightAttr attr = {kOpwrightAttrFloat, 0, 0, {}};
  attr.value.f = value;
  return attr;
}
OpwrightAttr BoolAttr(bool value) {
  OpwrightAttr attr = {kOpwrightAttrBool, 0, 0, {}};
  attr.value.i = value ? 1 : 0;
  return attr;
}
OpwrightAttr StringAttr(const char* value) {
  OpwrightAttr attr = {kOpwrightAttrString, 0, static_cast<int64_t>(strlen(value)), {}};
  attr.value.s = value;
  return attr;
}

}  // namespace opwright::test

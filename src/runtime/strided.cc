// SPDX-License-Identifier: Apache-2.0
#include "runtime/strided.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/dtype.h"
#include "base/text.h"
#include "opwright/half.h"

namespace opwright {

bool RepeatsMemory(const OpwrightTensor& t) {
  if (IsDense(t) || NumElements(t) == 0) return false;
  // By growing strides: each must reach beyond all that the smaller ones span together.
  std::pair<int64_t, int64_t> dims[OPWRIGHT_MAX_RANK];  // stride, last index
  int32_t n = 0;
  for (int32_t k = 0; k < t.ndim; ++k)
    if (t.shape[k] > 1) dims[n++] = {std::abs(t.strides[k]), t.shape[k] - 1};
  std::sort(dims, dims + n);
  int64_t span = 0;
  for (int32_t k = 0; k < n; ++k) {
    if (dims[k].first <= span) return true;
    span += dims[k].first * dims[k].second;
  }
  return false;
}

ByteRange BytesOfStrided(const OpwrightTensor& t) {
  const char* begin = DataOf(t);
  if (NumElements(t) == 0) return {begin, begin};
  const int64_t item = ItemSize(t.dtype);
  if (t.strides == nullptr) return {begin, begin + NumElements(t) * item};
  const char* end = begin + item;
  for (int32_t k = 0; k < t.ndim; ++k) {
    const int64_t reach = (t.shape[k] - 1) * t.strides[k] * item;
    (reach < 0 ? begin : end) += reach;
  }
  return {begin, end};
}

namespace {

// One loop over dimensions: sizes from the outermost in, strides of both sides in bytes.
struct Walk {
  int32_t ndim = 0;
  int64_t shape[OPWRIGHT_MAX_RANK];
  int64_t source[OPWRIGHT_MAX_RANK];
  int64_t target[OPWRIGHT_MAX_RANK];
};

// Drops dimensions of size 1 and joins neighbours that are one run on both sides.
Walk MakeWalk(const OpwrightTensor& source, const OpwrightTensor& target) {
  Walk walk;
  int64_t dense[OPWRIGHT_MAX_RANK];
  DenseStrides(source.ndim, source.shape, dense);
  const int64_t source_item = ItemSize(source.dtype);
  const int64_t target_item = ItemSize(target.dtype);
  for (int32_t k = 0; k < source.ndim; ++k) {
    if (source.shape[k] == 1) continue;
    const int64_t s = (source.strides ? source.strides[k] : dense[k]) * source_item;
    const int64_t t = (target.strides ? target.strides[k] : dense[k]) * target_item;
    const int32_t last = walk.ndim - 1;
    if (last >= 0 && walk.source[last] == s * source.shape[k] &&
        walk.target[last] == t * source.shape[k]) {
      walk.shape[last] *= source.shape[k];
      walk.source[last] = s;
      walk.target[last] = t;
      continue;
    }
    walk.shape[walk.ndim] = source.shape[k];
    walk.source[walk.ndim] = s;
    walk.target[walk.ndim] = t;
    ++walk.ndim;
  }
  if (walk.ndim == 0) {
    walk.ndim = 1;
    walk.shape[0] = 1;
    walk.source[0] = source_item;
    walk.target[0] = target_item;
  }
  return walk;
}

using Row = void (*)(const char* source, int64_t source_stride, char* target, int64_t target_stride,
                     int64_t n);

void Run(const Walk& walk, Row row, const char* source, char* target) {
  const int32_t inner = walk.ndim - 1;
  int64_t index[OPWRIGHT_MAX_RANK] = {};
  for (;;) {
    row(source, walk.source[inner], target, walk.target[inner], walk.shape[inner]);
    int32_t k = inner - 1;
    for (; k >= 0; --k) {
      source += walk.source[k];
      target += walk.target[k];
      if (++index[k] < walk.shape[k]) break;
      index[k] = 0;
      source -= walk.source[k] * walk.shape[k];
      target -= walk.target[k] * walk.shape[k];
    }
    if (k < 0) return;
  }
}

template <size_t kItem>
void CopyRow(const char* source, int64_t source_stride, char* target, int64_t target_stride,
             int64_t n) {
  if (source_stride == kItem && target_stride == kItem) {
    memcpy(target, source, static_cast<size_t>(n) * kItem);
    return;
  }
  for (int64_t i = 0; i < n; ++i, source += source_stride, target += target_stride)
    memcpy(target, source, kItem);
}

template <class From, class To>
void ConvertRow(const char* source, int64_t source_stride, char* target, int64_t target_stride,
                int64_t n) {
  for (int64_t i = 0; i < n; ++i, source += source_stride, target += target_stride) {
    From from;
    memcpy(&from, source, sizeof from);
    To to;
    if constexpr (std::is_same_v<From, double> &&
                  (std::is_same_v<To, float16> || std::is_same_v<To, bfloat16>)) {
      // Through float with round to odd, so that rounding twice is rounding once.
      float f = static_cast<float>(from);
      const double back = static_cast<double>(f);
      if (back != from && back == back) {
        uint32_t bits;
        memcpy(&bits, &f, 4);
        const bool too_far = from > 0 ? back > from : back < from;
        if (too_far) bits -= 1;
        bits |= 1;
        memcpy(&f, &bits, 4);
      }
      to = To(f);
    } else {
      to = static_cast<To>(from);
    }
    memcpy(target, &to, sizeof to);
  }
}

template <class From>
Row ConverterFrom(OpwrightDType to) {
  if (to.code == kOpwrightBfloat) return &ConvertRow<From, bfloat16>;
  if (to.code == kOpwrightFloat) {
    if (to.bits == 16) return &ConvertRow<From, float16>;
    return to.bits == 32 ? &ConvertRow<From, float> : &ConvertRow<From, double>;
  }
  return nullptr;
}

// A weak number's value in any dtype of a column.
template <class From>
Row WeakConverter(OpwrightDType to) {
  const bool is_unsigned = to.code == kOpwrightUInt;
  if (to.code == kOpwrightBool) return &ConvertRow<From, bool>;
  if (to.code == kOpwrightInt || is_unsigned) {
    switch (to.bits) {
      case 8:
        return is_unsigned ? &ConvertRow<From, uint8_t> : &ConvertRow<From, int8_t>;
      case 16:
        return is_unsigned ? &ConvertRow<From, uint16_t> : &ConvertRow<From, int16_t>;
      case 32:
        return is_unsigned ? &ConvertRow<From, uint32_t> : &ConvertRow<From, int32_t>;
      default:
        return is_unsigned ? &ConvertRow<From, uint64_t> : &ConvertRow<From, int64_t>;
    }
  }
  if (to.code == kOpwrightComplex)  // the imaginary half is cleared beforehand
    return to.bits == 64 ? &ConvertRow<From, float> : &ConvertRow<From, double>;
  return ConverterFrom<From>(to);
}

Row Converter(OpwrightDType from, OpwrightDType to) {
  if (IsWeak(from))
    return from.code == kOpwrightFloat ? WeakConverter<double>(to) : WeakConverter<int64_t>(to);
  if (from.code == kOpwrightBfloat) return ConverterFrom<bfloat16>(to);
  if (from.bits == 16) return ConverterFrom<float16>(to);
  return from.bits == 32 ? ConverterFrom<float>(to) : ConverterFrom<double>(to);
}

Row Copier(int64_t item) {
  switch (item) {
    case 1:
      return &CopyRow<1>;
    case 2:
      return &CopyRow<2>;
    case 4:
      return &CopyRow<4>;
    case 8:
      return &CopyRow<8>;
    default:
      return &CopyRow<16>;
  }
}

}  // namespace

void CopyTensor(const OpwrightTensor& source, const OpwrightTensor& target) {
  if (NumElements(source) == 0) return;
  const bool convert = !(source.dtype == target.dtype);
  if (convert && target.dtype.code == kOpwrightComplex)
    memset(DataOf(target), 0, static_cast<size_t>(NumElements(target) * ItemSize(target.dtype)));
  const Row row = convert ? Converter(source.dtype, target.dtype) : Copier(ItemSize(source.dtype));
  Run(MakeWalk(source, target), row, DataOf(source), DataOf(target));
}

bool IsZero(const OpwrightTensor& dense) {
  // In words of 8 bytes, without the signs of floats.
  const int64_t item = ItemSize(dense.dtype);
  const int64_t part = dense.dtype.code == kOpwrightComplex ? item / 2 : item;
  uint64_t mask = ~uint64_t{0};
  if (IsFloat(dense.dtype) || dense.dtype.code == kOpwrightComplex)
    for (int64_t bit = part * 8 - 1; bit < 64; bit += part * 8) mask &= ~(uint64_t{1} << bit);
  const char* at = DataOf(dense);
  int64_t left = NumElements(dense) * item;
  while (left > 0) {
    uint64_t any = 0;
    for (int k = 0; k < 512 && left > 0; ++k) {
      uint64_t word = 0;
      const auto size = static_cast<size_t>(left < 8 ? left : 8);
      memcpy(&word, at, size);
      any |= word;
      at += size;
      left -= static_cast<int64_t>(size);
    }
    if ((any & mask) != 0) return false;
  }
  return true;
}

std::string ShapeText(int32_t ndim, const int64_t* shape) {
  std::string text = "[";
  for (int32_t k = 0; k < ndim; ++k) text += StrCat(k > 0 ? ", " : "", shape[k]);
  return text + "]";
}

}  // namespace opwright

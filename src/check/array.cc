// SPDX-License-Identifier: Apache-2.0
#include "check/array.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numbers>

#include "base/dtype.h"
#include "base/text.h"
#include "opwright/half.h"
#include "runtime/strided.h"

namespace opwright::check {
namespace {

template <class T>
double Load(const char* at) {
  T value;
  memcpy(&value, at, sizeof value);
  return static_cast<double>(value);
}

template <class T>
void Store(char* at, double value) {
  const T typed = static_cast<T>(value);
  memcpy(at, &typed, sizeof typed);
}

// A number of those that have a density.
double Draw(Values values, Random* random) {
  switch (values) {
    case Values::kWide:
      return 8 * random->Normal();
    case Values::kUnit:
      return random->Uniform(0.05, 0.95);
    case Values::kPositive:
      return random->Uniform(0.5, 2);
    default:
      return random->Normal();
  }
}

// One number from each of as many equal parts of the range as there are elements, in any order: few
// of them may else all lie on one side of what clamps.
void Spread(Array* array, Values values, Random* random) {
  const double most = values == Values::kTens ? 40 : 400;
  const auto n = array->size();
  std::vector<double> numbers;
  for (int64_t k = 0; k < n; ++k)
    numbers.push_back(
        most * (2 * (static_cast<double>(k) + random->Uniform(0, 1)) / static_cast<double>(n) - 1));
  for (int64_t k = n; k-- > 0;) {
    std::swap(numbers[static_cast<size_t>(k)], numbers[static_cast<size_t>(random->Below(k + 1))]);
    array->Set(k, numbers[static_cast<size_t>(k)]);
  }
}

}  // namespace

Array::Array(OpwrightDType dtype_, Shape shape_) : dtype(dtype_), shape(std::move(shape_)) {
  bytes.resize(static_cast<size_t>(size() * ItemSize(dtype)));
}

int64_t Array::size() const {
  return NumElements(static_cast<int32_t>(shape.size()), shape.data());
}

double Array::Get(int64_t i) const {
  const char* const at = bytes.data() + i * ItemSize(dtype);
  switch (dtype.code) {
    case kOpwrightFloat:
      return dtype.bits == 64   ? Load<double>(at)
             : dtype.bits == 32 ? Load<float>(at)
                                : float16::ToFloat(static_cast<uint16_t>(Load<uint16_t>(at)));
    case kOpwrightBfloat:
      return bfloat16::ToFloat(static_cast<uint16_t>(Load<uint16_t>(at)));
    case kOpwrightInt:
      return dtype.bits == 64   ? Load<int64_t>(at)
             : dtype.bits == 32 ? Load<int32_t>(at)
             : dtype.bits == 16 ? Load<int16_t>(at)
                                : Load<int8_t>(at);
    case kOpwrightUInt:
      return dtype.bits == 64   ? Load<uint64_t>(at)
             : dtype.bits == 32 ? Load<uint32_t>(at)
             : dtype.bits == 16 ? Load<uint16_t>(at)
                                : Load<uint8_t>(at);
    case kOpwrightComplex:
      return dtype.bits == 128 ? Load<double>(at) : Load<float>(at);
    default:
      return Load<uint8_t>(at);
  }
}

void Array::Set(int64_t i, double value) {
  char* const at = bytes.data() + i * ItemSize(dtype);
  switch (dtype.code) {
    case kOpwrightFloat:
      if (dtype.bits == 64) return Store<double>(at, value);
      if (dtype.bits == 32) return Store<float>(at, value);
      return Store<uint16_t>(at, float16::FromFloat(static_cast<float>(value)));
    case kOpwrightBfloat:
      return Store<uint16_t>(at, bfloat16::FromFloat(static_cast<float>(value)));
    case kOpwrightInt:
    case kOpwrightUInt:  // small and not negative: the same bits
      if (dtype.bits == 64) return Store<int64_t>(at, value);
      if (dtype.bits == 32) return Store<int32_t>(at, value);
      if (dtype.bits == 16) return Store<int16_t>(at, value);
      return Store<int8_t>(at, value);
    case kOpwrightComplex:
      if (dtype.bits == 128) return Store<double>(at, value);
      return Store<float>(at, value);
    default:
      return Store<uint8_t>(at, value != 0);
  }
}

double Array::Largest() const {
  double largest = 0;
  for (int64_t k = 0; k < size(); ++k)
    if (std::isfinite(Get(k))) largest = std::max(largest, std::fabs(Get(k)));
  return largest;
}

OpwrightTensor Array::Tensor() {
  return {bytes.data(), 1, 0, static_cast<int32_t>(shape.size()), dtype, shape.data(), nullptr, 0};
}

double Epsilon(OpwrightDType dtype) {
  if (dtype.code == kOpwrightBfloat) return 0x1p-7;
  return dtype.bits == 64 ? 0x1p-52 : dtype.bits == 32 ? 0x1p-23 : 0x1p-10;
}

bool IsNarrow(OpwrightDType dtype) { return Epsilon(dtype) > Epsilon(kFloat32); }

double LargestFinite(OpwrightDType dtype) {
  if (dtype.code == kOpwrightFloat && dtype.bits == 16) return 65504;
  return dtype.bits == 64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
}

double SmallestPositive(OpwrightDType dtype) {
  if (dtype.code == kOpwrightBfloat) return 0x1p-133;
  return dtype.bits == 64 ? 0x1p-1074 : dtype.bits == 32 ? 0x1p-149 : 0x1p-24;
}

std::string IndexText(const Shape& shape, int64_t i) {
  std::vector<std::string> parts(shape.size());
  for (size_t k = shape.size(); k-- > 0;) {
    parts[k] = StrCat(i % shape[k]);
    i /= shape[k];
  }
  return StrCat("[", Join(parts, ", "), "]");
}

// SplitMix64 (Steele, Lea, Flood 2014).
uint64_t Random::Bits() {
  uint64_t z = state_ += 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

double Random::Uniform(double low, double high) {
  return low + (high - low) * (static_cast<double>(Bits() >> 11) * 0x1p-53);
}

// Box and Muller.
double Random::Normal() {
  const double u = Uniform(0x1p-53, 1);
  return std::sqrt(-2 * std::log(u)) * std::cos(2 * std::numbers::pi * Uniform(0, 1));
}

const char* ValuesName(Values values) {
  switch (values) {
    case Values::kNormal:
      return "normal values";
    case Values::kPositive:
      return "positive values";
    case Values::kZeros:
      return "zeros";
    case Values::kSomeZeros:
      return "zeros among others";
    case Values::kOneZero:
      return "one zero";
    case Values::kWide:
      return "values of eight times the size";
    case Values::kTens:
      return "values up to 40";
    case Values::kHundreds:
      return "values up to 400";
    case Values::kUnit:
      return "values between 0 and 1";
    case Values::kMasked:
      return "-infinity among the values of one";
    case Values::kNearAttrs:
      return "values near the attributes";
    default:
      return "special values";
  }
}

void Fill(Array* array, Values values, int64_t limit, Random* random) {
  const OpwrightDType dtype = array->dtype;
  const bool is_float = IsFloat(dtype) || dtype.code == kOpwrightComplex;
  const double special[] = {
      INFINITY, -INFINITY, NAN,
      0.0,      -0.0,      dtype.code == kOpwrightComplex ? 1e30 : LargestFinite(dtype),
      1e-310,   1e-40,     6e-8,
      1.0,      -1.0};
  Array& a = *array;
  if (dtype.code == kOpwrightComplex) {
    // As twice as many real numbers.
    Array parts({kOpwrightFloat, static_cast<uint8_t>(dtype.bits / 2), 1}, {a.size() * 2});
    Fill(&parts, values, limit, random);
    a.bytes = parts.bytes;
    return;
  }
  for (int64_t i = 0; i < a.size(); ++i) {
    if (values == Values::kZeros || (values == Values::kSomeZeros && random->Bits() % 3 == 0)) {
      a.Set(i, 0);
    } else if (!is_float) {
      a.Set(i, static_cast<double>(random->Below(dtype.code == kOpwrightBool ? 2 : limit)));
    } else if (values == Values::kSpecial) {
      a.Set(i, special[random->Bits() % std::size(special)]);
    } else {
      a.Set(i, Draw(values, random));
    }
  }
  if (is_float && (values == Values::kTens || values == Values::kHundreds))
    Spread(&a, values, random);
  if (values == Values::kOneZero && is_float && a.size() > 0) a.Set(random->Below(a.size()), 0);
}

void Nudge(Array* array, double epsilon, double least, Random* random) {
  if (!IsFloat(array->dtype)) return;
  for (int64_t k = 0; k < array->size(); ++k) {
    const double value = array->Get(k);
    if (!std::isfinite(value)) continue;
    // Of many sizes: whole steps of the last place would leave rounding as it was.
    const double step = random->Uniform(0.5, 1.5) * epsilon * std::max(least, std::fabs(value));
    array->Set(k, random->Bits() % 2 == 0 ? value + step : value - step);
  }
}

void MoveByOne(Array* array) {
  std::vector<char>& bytes = array->bytes;
  if (!bytes.empty())
    std::rotate(bytes.begin(), bytes.begin() + ItemSize(array->dtype), bytes.end());
}

void FillCotangent(Array* array, Random* random) {
  for (int64_t i = 0; i < array->size(); ++i) {
    const double size = random->Uniform(0.5, 1.5);
    array->Set(i, random->Bits() % 2 == 0 ? size : -size);
  }
}

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// A dense array of any dtype whose elements are read and written as double, and how it is filled.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opwright/c_api.h"

namespace opwright::check {

using Shape = std::vector<int64_t>;

struct Array {
  OpwrightDType dtype = {};
  Shape shape;
  std::vector<char> bytes;

  Array() = default;
  Array(OpwrightDType dtype_, Shape shape_);
  int64_t size() const;
  // Real dtypes and bool. Of a complex number the real part.
  double Get(int64_t i) const;
  void Set(int64_t i, double value);
  double Largest() const;  // by size, of the finite ones; 0 if there is none
  // A view of the bytes, dense; valid as long as this is.
  OpwrightTensor Tensor();
};

// The distance from 1 to the next number of a float dtype.
double Epsilon(OpwrightDType dtype);
// Whether it is less precise than float32: rounding may hide what differences would show.
bool IsNarrow(OpwrightDType dtype);
double LargestFinite(OpwrightDType dtype);
double SmallestPositive(OpwrightDType dtype);

// "[1, 2]" of flat element i.
std::string IndexText(const Shape& shape, int64_t i);

// A fixed sequence for a seed, the same on every machine.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15u + 0x632BE59BD9B4E019u) {}
  uint64_t Bits();
  int64_t Below(int64_t n) { return static_cast<int64_t>(Bits() % static_cast<uint64_t>(n)); }
  double Uniform(double low, double high);
  double Normal();

 private:
  uint64_t state_;
};

enum class Values {
  kNormal,
  kPositive,  // in [0.5, 2): for logarithms, roots and quotients
  kZeros,
  kSomeZeros,  // exact ones among others
  kOneZero,  // in each float input
  kWide,  // normal ones times eight: for what clamps
  kTens,  // in +-40: for what clamps at a number of its own
  kHundreds,  // in +-400
  kUnit,  // in [0.05, 0.95): for what takes probabilities alone
  kNearAttrs,  // normal ones, and such as are near to the float attributes
  kMasked,  // normal ones, with -infinity among those of the largest input
  kSpecial,  // infinities, NaN, huge, tiny, both zeros: nothing but the memory contract is judged
};
const char* ValuesName(Values values);

// Integers are in [0, limit): they may be indices. Bools are random. kNearAttrs is as kNormal.
void Fill(Array* array, Values values, int64_t limit, Random* random);

// Moves each number by about epsilon, relative to itself or to `least` if that is larger. Integers
// stay.
void Nudge(Array* array, double epsilon, double least, Random* random);

// The same elements, each one place before its own; the first one is the last.
void MoveByOne(Array* array);

// In +-[0.5, 1.5]: no two runs of equal ones, nothing near zero.
void FillCotangent(Array* array, Random* random);

}  // namespace opwright::check

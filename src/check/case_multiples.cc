// SPDX-License-Identifier: Apache-2.0
#include "check/case_multiples.h"

#include <algorithm>
#include <utility>

#include "check/case_attrs.h"
#include "check/case_list.h"

namespace opwright::check {
namespace {

constexpr size_t kMostPairs = 20;
constexpr int64_t kUsualMultiples[] = {7, 16};

// Where a named dimension stands.
struct Place {
  int32_t input = 0;
  int32_t from_front = 0;
  int32_t from_end = 0;
};

std::vector<Place> PlacesOf(const OpwrightOpDef& def, int32_t symbol) {
  std::vector<Place> places;
  for (int32_t i = 0; i < def.num_inputs; ++i) {
    const OpwrightParamDef& param = *def.inputs[i];
    for (int32_t k = 0; k < param.num_dims; ++k)
      if (param.dims[k] == -(symbol + 2)) places.push_back({i, k, param.num_dims - 1 - k});
  }
  return places;
}

// At the same place of two inputs, and never together in one: one may stand for the other.
bool AreCounterparts(const OpwrightOpDef& def, const DimPair& pair) {
  bool same_place = false;
  for (const Place& a : PlacesOf(def, pair.larger))
    for (const Place& b : PlacesOf(def, pair.smaller)) {
      if (a.input == b.input) return false;
      same_place = same_place || a.from_front == b.from_front || a.from_end == b.from_end;
    }
  return same_place;
}

// -1: none of its inputs is given.
int64_t SizeOf(const OpwrightOpDef& def, int32_t symbol, const Case& c) {
  for (const Place& place : PlacesOf(def, symbol))
    for (const Shape& shape : c.shapes[static_cast<size_t>(place.input)])
      return shape[shape.size() - 1 - static_cast<size_t>(place.from_end)];
  return -1;
}

Sizes SizesOfPair(const DimPair& pair, int64_t larger, int64_t smaller,
                  std::vector<int64_t> others) {
  Sizes sizes = DistinctSizes();
  const auto first = static_cast<size_t>(std::min(pair.larger, pair.smaller));
  const auto second = static_cast<size_t>(std::max(pair.larger, pair.smaller));
  if (others.size() < second) others.resize(second, 3);
  others.insert(others.begin() + static_cast<std::ptrdiff_t>(first), 0);
  others.insert(others.begin() + static_cast<std::ptrdiff_t>(second), 0);
  others[static_cast<size_t>(pair.larger)] = larger;
  others[static_cast<size_t>(pair.smaller)] = smaller;
  sizes.symbols = std::move(others);
  return sizes;
}

// Even ones, which groups divide, and falling, as those of images and their windows do; but for the
// first one, which is often a batch.
std::vector<int64_t> EvenSizes(int32_t count) {
  std::vector<int64_t> sizes;
  for (int32_t k = 0; k < count; ++k) sizes.push_back(4 + 2 * (count - k));
  if (count > 1) sizes[0] = 3;
  return sizes;
}

}  // namespace

std::vector<DimPair> PairsOfDims(const OpwrightOpDef& def) {
  std::vector<DimPair> pairs;
  for (int32_t a = 0; a < def.num_symbols; ++a)
    for (int32_t b = 0; b < def.num_symbols; ++b)
      if (a != b) pairs.push_back({a, b});
  std::stable_partition(pairs.begin(), pairs.end(),
                        [&](const DimPair& pair) { return AreCounterparts(def, pair); });
  pairs.resize(std::min(pairs.size(), kMostPairs));
  return pairs;
}

bool Differ(const OpwrightOpDef& def, const DimPair& pair, const Case& c) {
  const int64_t a = SizeOf(def, pair.larger, c);
  const int64_t b = SizeOf(def, pair.smaller, c);
  return a > 1 && b > 1 && a != b;
}

std::vector<Case> CasesOfEqual(const OpwrightOpDef& def, const DimPair& pair) {
  CaseList list(def);
  list.Add(SizesOfPair(pair, 4, 4, {7, 5, 3, 2, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16}));
  return list.Take();
}

std::vector<Case> CasesOfMultiple(const OpwrightOpDef& def, const DimPair& pair) {
  CaseList list(def);
  const std::vector<int64_t> primes = {7, 5, 4, 2, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
  list.Add(SizesOfPair(pair, 6, 3, primes));
  list.Add(SizesOfPair(pair, 4, 2, EvenSizes(std::max(0, def.num_symbols - 2))));
  list.Add(SizesOfPair(pair, 8, 2, {7, 5, 4, 3, 6, 9, 10, 11, 12, 13, 14, 15, 16, 17}));
  return list.Take();
}

std::vector<int64_t> UsualMultiples(const OpwrightOpDef& def) {
  std::vector<int64_t> numbers = GroupsOfAttrs(def);
  for (const int64_t number : kUsualMultiples)
    if (std::find(numbers.begin(), numbers.end(), number) == numbers.end())
      numbers.push_back(number);
  return numbers;
}

}  // namespace opwright::check

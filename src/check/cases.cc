// SPDX-License-Identifier: Apache-2.0
#include "check/cases.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "base/dtype_name.h"
#include "base/text.h"
#include "check/case_attrs.h"
#include "check/case_broadcasts.h"
#include "check/case_list.h"
#include "runtime/strided.h"

namespace opwright::check {
namespace {

// Optional inputs that are given or left out alone.
constexpr size_t kMostOptional = 4;

Sizes ReversedSizes() {
  Sizes sizes = DistinctSizes();
  sizes.symbols = {5, 3, 7, 2, 6, 4, 9, 8, 11, 10, 13, 12, 15, 14, 17, 16};
  sizes.unknown = {3, 5, 2, 7};
  sizes.any = {5, 3};
  sizes.leading = {3, 2};
  return sizes;
}

Sizes SingleSizes() {
  Sizes sizes = DistinctSizes();
  for (std::vector<int64_t>* list : {&sizes.symbols, &sizes.leading, &sizes.any, &sizes.unknown})
    std::fill(list->begin(), list->end(), 1);
  return sizes;
}

void AddRanks(CaseList* list) {
  Sizes sizes = DistinctSizes();
  if (!list->leading().empty()) {
    for (const Shape& leading : {Shape{}, Shape{3, 2, 2}, Shape{4, 2}}) {
      sizes.leading = leading;
      list->Add(sizes);
    }
    if (list->leading().size() > 1 && list->group().empty()) {  // a broadcast group has its forms
      for (const int32_t input : list->leading()) {
        sizes.shorter = input;
        list->Add(sizes);
      }
      sizes.shorter = -1;
    }
    sizes.leading = {2};
  }
  if (list->has_any()) {
    for (const Shape& any : {Shape{}, Shape{5}, Shape{2, 3, 5}, Shape{2, 3, 4, 5}}) {
      sizes.any = any;
      list->Add(sizes);
    }
  }
}

void AddOptional(CaseList* list) {
  Sizes sizes = DistinctSizes();
  const std::vector<int32_t>& optional = list->optional();
  if (!optional.empty()) {
    sizes.absent = ~uint64_t{0};
    list->AddBoth(sizes);
    for (size_t k = 0; k < std::min(optional.size(), kMostOptional); ++k) {
      sizes.absent = ~(uint64_t{1} << optional[k]);
      list->AddBoth(sizes);
      sizes.absent = uint64_t{1} << optional[k];
      list->AddBoth(sizes);
    }
    sizes.absent = 0;
  }
  if (list->has_dynamic()) {
    for (const int64_t count : {int64_t{1}, int64_t{3}, kMostDynamic}) {
      sizes.dynamic = count;
      list->Add(sizes);
    }
    sizes.dynamic = 3;
    sizes.ragged = true;
    list->Add(sizes);
  }
}

void AddEmpty(CaseList* list) {
  const OpwrightOpDef& def = list->def();
  for (int32_t s = 0; s < std::min(def.num_symbols, 4); ++s) {
    Sizes sizes = DistinctSizes();
    sizes.symbols[static_cast<size_t>(s)] = 0;
    list->Add(sizes);
  }
  Sizes sizes = DistinctSizes();
  sizes.leading = {0};
  sizes.any = {0, 3};
  sizes.unknown = {0, 3, 2, 7};
  list->Add(sizes);
  sizes.any = {3, 0};
  sizes.unknown = {3, 0, 2, 7};
  list->Add(sizes);
  sizes.any = {0, 3};
  if (list->group().size() < 2) return;
  for (const int32_t row : list->group()) list->Add(sizes, Forms(*list, row, kRow, kFull));
}

// Each axis alone is 1, as a batch of one, or a window of one.
void AddSingleAxes(CaseList* list) {
  const OpwrightOpDef& def = list->def();
  const Sizes distinct = DistinctSizes();
  constexpr int32_t kMostNames = 8;
  for (int32_t s = 0; s < std::min(def.num_symbols, kMostNames); ++s) {
    Sizes sizes = distinct;
    sizes.symbols[static_cast<size_t>(s)] = 1;
    list->AddSought(sizes);
  }
  for (size_t k = 0; k < distinct.unknown.size() && list->unknown() > 0; ++k) {
    Sizes sizes = distinct;
    sizes.unknown[k] = 1;
    list->AddSought(sizes);
  }
  for (const Shape& any : {Shape{1, 5}, Shape{3, 1}}) {
    Sizes sizes = distinct;
    sizes.any = any;
    if (list->has_any()) list->AddSought(sizes);
  }
  Sizes sizes = distinct;
  sizes.leading = {1};
  if (!list->leading().empty()) list->AddSought(sizes);
}

// Thousands of elements in the largest input, where it has up to four axes.
void AddLarge(CaseList* list) {
  const OpwrightOpDef& def = list->def();
  const int axes = def.num_symbols + (list->leading().empty() ? 0 : 1);
  Sizes sizes = DistinctSizes();
  if (axes <= 1) {
    // A length that no block divides.
    sizes.symbols = {101};
    sizes.any = {101};
    sizes.unknown = {37, 3, 2, 7};
    list->Add(sizes);
  }
  // Beside an axis that is -1 a named one is no longer than others.
  const bool beside = def.num_symbols > 0 && list->unknown() > 0;
  sizes.symbols = axes <= 1   ? std::vector<int64_t>{beside ? 53 : 4099}
                  : axes <= 2 ? std::vector<int64_t>{61, 67}
                  : axes <= 3 ? std::vector<int64_t>{29, 31, 23}
                              : std::vector<int64_t>{7, 11, 13, 17, 5, 3, 2};
  sizes.leading = {axes <= 2 ? 37 : axes <= 3 ? 19 : 3};
  sizes.any = {61, 67};
  sizes.unknown = {67, 61, 2, 3};
  list->Add(sizes);
}

// Where inputs have a -1, counted from the end: the last two such places.
std::set<size_t> LastUnknown(const OpwrightOpDef& def) {
  std::set<size_t> places;
  for (int32_t i = 0; i < def.num_inputs; ++i)
    for (int32_t k = 0; k < def.inputs[i]->num_dims; ++k)
      if (def.inputs[i]->dims[k] == -1)
        places.insert(static_cast<size_t>(def.inputs[i]->num_dims - 1 - k));
  while (places.size() > 2) places.erase(std::prev(places.end()));
  return places;
}

// One axis is longer than the blocks that loops go by, and sums over it are long; the others are
// short.
void AddLongAxes(CaseList* list) {
  const bool one_axis = list->def().num_symbols == 1 && list->leading().empty() &&
                        !list->has_any() && list->unknown() == 0;
  if (one_axis) return;  // it is long already
  constexpr int64_t kLong = 2053;
  Sizes sizes = DistinctSizes();
  std::fill(sizes.symbols.begin(), sizes.symbols.end(), 2);
  sizes.leading = {2};
  sizes.any = {2, kLong};
  sizes.unknown = {2, 2, 2, 2};
  for (int32_t s = 0; s < std::min(list->def().num_symbols, 4); ++s) {
    const auto at = static_cast<size_t>(s);
    sizes.symbols[at] = kLong;
    list->AddLongAxis(sizes);
    sizes.symbols[at] = 2;
  }
  for (const size_t place : LastUnknown(list->def())) {
    if (list->def().num_symbols == 0 || place >= sizes.unknown.size()) continue;
    sizes.unknown[place] = kLong;
    list->AddLongAxis(sizes);
    sizes.unknown[place] = 2;
  }
  sizes.unknown = {2, kLong, 2, 2};
  if (list->def().num_symbols == 0) list->AddLongAxis(sizes);
  sizes.leading = {kLong};
  sizes.any = {kLong, 2};
  sizes.unknown = {kLong, 2, 2, 2};
  list->AddLongAxis(sizes);
  if (list->group().size() < 2) return;
  // What is broadcast gets the sum over it, be it rows or columns.
  for (const int32_t smaller : list->group()) {
    sizes.any = {kLong, 2};
    sizes.unknown = {2, kLong, 2, 2};  // from the last on
    list->AddLongAxis(sizes, Forms(*list, smaller, kRow, kFull));
    sizes.any = {2, kLong};
    sizes.unknown = {kLong, 2, 2, 2};
    list->AddLongAxis(sizes, Forms(*list, smaller, kColumn, kFull));
  }
}

// Each axis alone is one that blocks and vectors divide, which is what loops have a branch for;
// then the last ones together.
void AddWholeBlocks(CaseList* list) {
  constexpr int64_t kBlocks = 128;
  const Sizes distinct = DistinctSizes();
  // Sizes of further ones are those of the first again.
  const auto axes =
      std::min(list->def().num_symbols, static_cast<int32_t>(std::ssize(distinct.symbols)));
  for (int32_t s = 0; s < std::min(axes, 4); ++s) {
    Sizes sizes = distinct;
    sizes.symbols[static_cast<size_t>(s)] = kBlocks;
    list->AddSampled(sizes);
  }
  Sizes sizes = distinct;
  for (const size_t place : LastUnknown(list->def())) {
    if (place >= sizes.unknown.size()) continue;
    sizes.unknown[place] = kBlocks;
    list->AddSampled(sizes);
    sizes.unknown[place] = distinct.unknown[place];
  }
  for (const Shape& any : {Shape{3, kBlocks}, Shape{kBlocks, 3}}) {
    sizes.any = any;
    list->AddSampled(sizes);
  }
  sizes.any = {32, kBlocks};
  sizes.leading = {16};
  for (int32_t s = std::max(0, axes - 2); s < axes; ++s)
    sizes.symbols[static_cast<size_t>(s)] = s + 1 < axes ? 32 : 64;
  sizes.unknown[0] = 64;
  sizes.unknown[1] = 32;
  list->AddSampled(sizes);
}

void AddOrdinary(CaseList* list) {
  const Sizes sizes = DistinctSizes();
  list->Add(sizes);
  list->Add(sizes, Values::kPositive);
  list->Add(ReversedSizes());
  AddRanks(list);
  AddBroadcasts(list);
  AddOptional(list);
  if (list->unknown() > 0) {
    Sizes untied = sizes;
    untied.unknown = {5, 3, 2, 7, 4, 6, 8, 9, 10, 11};
    untied.tie = Tie::kNone;
    list->Add(untied);
  }
  list->Add(MultipleSizes());
  list->Add(SingleSizes());
  list->Add(sizes, Values::kZeros);
  list->Add(sizes, Values::kSpecial);
  AddEmpty(list);
  AddLarge(list);
  AddLongAxes(list);
  AddWholeBlocks(list);
  list->Add(sizes, Values::kSomeZeros);
  list->Add(sizes, Values::kOneZero);
  list->Add(sizes, Values::kWide);
  AddSingleAxes(list);
  AddSubsetsOfAxes(list);
}

// Operators may ask for equal sizes where the metadef says -1: all of them, or one of one input and
// one of another.
void AddTies(CaseList* list) {
  if (list->unknown() == 0) return;
  Sizes sizes = DistinctSizes();
  sizes.unknown = {3};
  list->Add(sizes);
  if (list->unknown() < 2) return;
  sizes.unknown = {5, 3, 2, 7, 4, 6};
  for (const Tie tie : {Tie::kChain, Tie::kBackChain, Tie::kFirst, Tie::kLast}) {
    sizes.tie = tie;
    list->Add(sizes);
  }
}

}  // namespace

bool Case::is_probe() const {
  return values == Values::kTens || values == Values::kHundreds || values == Values::kNearAttrs ||
         values == Values::kMasked;
}

std::vector<Case> MakeCases(const OpwrightOpDef& def) {
  CaseList list(def);
  AddOrdinary(&list);
  AddTies(&list);
  AddCasesOfAttrs(&list);
  return list.Take();
}

std::string ItemName(const OpwrightParamDef& param, size_t item) {
  return param.kind == kOpwrightDynamic ? StrCat(param.name, "[", static_cast<int64_t>(item), "]")
                                        : std::string(param.name);
}

std::string ColumnText(const OpwrightOpDef& def, int32_t column) {
  std::vector<std::string> names;
  for (int32_t i = 0; i < def.num_inputs; ++i)
    names.push_back(DTypeName(def.inputs[i]->dtypes[column]));
  return StrCat("(", Join(names, ", "), ")");
}

std::string CaseText(const OpwrightOpDef& def, int32_t column, const Case& c) {
  std::string text;
  for (int32_t i = 0; i < def.num_inputs; ++i)
    for (const Shape& shape : c.shapes[static_cast<size_t>(i)])
      text += StrCat(text.empty() ? "" : ", ", def.inputs[i]->name,
                     ShapeText(static_cast<int32_t>(shape.size()), shape.data()), " ",
                     DTypeName(def.inputs[i]->dtypes[column]));
  if (c.values != Values::kNormal) text += StrCat("; ", ValuesName(c.values));
  return text;
}

}  // namespace opwright::check

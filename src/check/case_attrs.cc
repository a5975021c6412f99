// SPDX-License-Identifier: Apache-2.0
#include "check/case_attrs.h"

#include <algorithm>
#include <set>

#include "check/attrs.h"

namespace opwright::check {
namespace {

// Attributes that are tried alone, dimensions that are made a multiple of an attribute.
constexpr size_t kMostAloneCases = 12;
constexpr int32_t kMostMultiples = 4;
// An int attribute in these bounds may be a number of groups.
constexpr int64_t kLeastGroups = 2;
constexpr int64_t kMostGroups = 64;
// And so the size of a window, which is smaller where there are many dimensions.
constexpr int64_t kLargestWindow = 8;
// Fewer elements may all lie on one side of what clamps.
constexpr int64_t kEnough = 12;

// Two of each group, one dimension after the other.
void AddMultiples(CaseList* list, int64_t group) {
  for (int32_t k = 0; k < kMostMultiples; ++k) {
    const auto at = static_cast<size_t>(k);
    Sizes sizes = DistinctSizes();
    if (k < list->def().num_symbols) sizes.symbols[at] = 2 * group;
    sizes.unknown[at] = 2 * group;
    if (k < 2) sizes.any[at] = 2 * group;
    if (k == 2) sizes.any = {2, 2 * group, 3};
    if (k == 3) sizes.any = {2, 2 * group, 3, 2};
    list->Add(sizes);
  }
}

// Two neighbours together, as the height and the width of windows have to be.
void AddMultiplesOfTwo(CaseList* list, int64_t number) {
  for (int32_t k = 0; k + 1 < kMostMultiples; ++k) {
    const auto at = static_cast<size_t>(k);
    Sizes sizes = DistinctSizes();
    if (k + 1 < list->def().num_symbols) {
      sizes.symbols[at] = 2 * number;
      sizes.symbols[at + 1] = number;
    }
    sizes.unknown[at] = number;
    sizes.unknown[at + 1] = 2 * number;
    sizes.any = {2 * number, number};
    if (k == 1) sizes.any = {2, 2 * number, number};
    if (k == 2) sizes.any = {2, 2 * number, number, 3};
    list->Add(sizes);
  }
}

// Of channels in groups.
void AddMultiplesOfAttrs(CaseList* list) {
  for (const int64_t group : GroupsOfAttrs(list->def())) AddMultiples(list, group);
}

// As many dimensions as the input with most of them has.
int32_t MostDims(const OpwrightOpDef& def) {
  int32_t most = 0;
  for (int32_t i = 0; i < def.num_inputs; ++i)
    most = std::max(most, def.inputs[i]->num_dims + def.inputs[i]->leading_any);
  return most;
}

// Every size above that of a window, of which there are more places the larger it is.
Sizes SizesAbove(int64_t window) {
  Sizes sizes = DistinctSizes();
  for (std::vector<int64_t>* list : {&sizes.symbols, &sizes.any, &sizes.unknown})
    for (int64_t& size : *list) size += window - 1;
  return sizes;
}

// An int attribute may be the size of a window, and an output as much smaller than an input: with
// each of its two values there are outputs with elements. The first value comes by turns.
void AddWindowsOfAttrs(CaseList* list) {
  const OpwrightOpDef& def = list->def();
  const int64_t largest = MostDims(def) > 2 ? kLargestWindow : kMostGroups;
  for (const int32_t i : AttrsWithSecond(def)) {
    if (def.attrs[i]->type != kOpwrightAttrInt) continue;
    const int64_t window = MakeAttrs(def, {uint64_t{1} << i})[static_cast<size_t>(i)].value.i;
    if (window < 2 || window > largest || MayBeAxis(*def.attrs[i])) continue;
    list->AddAlone(SizesAbove(window), i);
    for (const int64_t more : {0, 1}) list->Add(SizesAbove(window + more));
  }
}

// Where sizes may have to be equal, they are; where there is a middle axis, it is met.
void AddAttrsAlone(CaseList* list) {
  const std::vector<int32_t> attrs = AttrsWithSecond(list->def());
  for (size_t k = 0; k < std::min(attrs.size(), kMostAloneCases); ++k) {
    const bool axis = MayBeAxis(*list->def().attrs[attrs[k]]);
    Sizes sizes = DistinctSizes();
    if (list->unknown() > 1) sizes.unknown = {3};
    if (attrs.size() > 1 || axis) list->AddAlone(sizes, attrs[k]);
    sizes.any = {2, 3, 4};
    sizes.leading = {4, 2};
    if (axis && (list->has_any() || !list->leading().empty())) list->AddAlone(sizes, attrs[k]);
  }
}

// Clamps, thresholds and branches far from zero, or near to an attribute.
void AddProbes(CaseList* list) {
  const OpwrightOpDef& def = list->def();
  const bool small = list->cases().empty() || LargestOf(list->cases()[0]) < kEnough;
  const Sizes sizes = small ? MultipleSizes() : DistinctSizes();
  list->Add(sizes, Values::kMasked);
  list->Add(sizes, Values::kTens);
  list->Add(sizes, Values::kHundreds);
  const auto is_float = [](const OpwrightAttrDef* attr) {
    return attr->type == kOpwrightAttrFloat;
  };
  if (std::any_of(def.attrs, def.attrs + def.num_attrs, is_float))
    list->Add(sizes, Values::kNearAttrs);
}

}  // namespace

void AddCasesOfAttrs(CaseList* list) {
  AddMultiplesOfAttrs(list);
  AddAttrsAlone(list);
  AddWindowsOfAttrs(list);
  AddProbes(list);
}

std::vector<int64_t> GroupsOfAttrs(const OpwrightOpDef& def) {
  std::set<int64_t> groups;
  for (int32_t i = 0; i < def.num_attrs; ++i)
    if (const OpwrightAttrDef& attr = *def.attrs[i];
        attr.type == kOpwrightAttrInt && attr.required == 0 &&
        attr.default_value.value.i >= kLeastGroups && attr.default_value.value.i <= kMostGroups)
      groups.insert(attr.default_value.value.i);
  return {groups.begin(), groups.end()};
}

std::vector<Case> CasesOfMultiples(const OpwrightOpDef& def, int64_t number) {
  if (number < kLeastGroups || number > kMostGroups) return {};
  CaseList list(def);
  AddMultiples(&list, number);
  AddMultiplesOfTwo(&list, number);
  return list.Take();
}

}  // namespace opwright::check

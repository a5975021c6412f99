// SPDX-License-Identifier: Apache-2.0
#include "check/case_list.h"

#include <algorithm>
#include <set>
#include <utility>

#include "runtime/strided.h"

namespace opwright::check {

Sizes DistinctSizes() {
  Sizes sizes;
  // Prime where there are few of them.
  sizes.symbols = {3, 5, 2, 7, 4, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
  sizes.leading = {2};
  sizes.any = {3, 5};
  sizes.unknown = {5, 3, 2, 7};
  return sizes;
}

Sizes MultipleSizes() {
  Sizes sizes;
  sizes.symbols = {8, 4, 16, 12, 24, 32, 20, 28, 36, 40, 44, 48, 52, 56, 60, 64};
  sizes.leading = {2};
  sizes.any = {4, 8};
  sizes.unknown = {8, 4, 12, 16};
  return sizes;
}

int64_t LargestOf(const Case& c) {
  int64_t largest = 0;
  for (const auto& list : c.shapes)
    for (const Shape& shape : list)
      largest = std::max(largest, NumElements(static_cast<int32_t>(shape.size()), shape.data()));
  return largest;
}

int64_t ElementsOf(const Case& c) {
  int64_t elements = 0;
  for (const auto& list : c.shapes)
    for (const Shape& shape : list)
      elements += NumElements(static_cast<int32_t>(shape.size()), shape.data());
  return elements;
}

bool HasEmpty(const Case& c) {
  for (const auto& list : c.shapes)
    for (const Shape& shape : list)
      if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return true;
  return false;
}

CaseList::CaseList(const OpwrightOpDef& def) : def_(def) {
  for (int32_t i = 0; i < def.num_inputs; ++i) {
    const OpwrightParamDef& param = *def.inputs[i];
    has_any_ = has_any_ || IsAny(param);
    if (param.leading_any != 0 && !IsAny(param)) leading_.push_back(i);
    unknown_ +=
        std::find(param.dims, param.dims + param.num_dims, -1) != param.dims + param.num_dims;
    if (param.kind == kOpwrightOptional && i < 64) optional_.push_back(i);
    has_dynamic_ = has_dynamic_ || param.kind == kOpwrightDynamic;
  }
  FindGroup();
}

void CaseList::FindGroup() {
  std::set<int32_t> group;
  for (int32_t o = 0; o < def_.num_outputs; ++o) {
    const OpwrightShapeRule& rule = *def_.shape_rules[o];
    if (rule.kind == kOpwrightShapeBroadcast) group.insert(rule.args, rule.args + rule.num_args);
  }
  if (group.empty())
    for (int32_t i = 0; i < def_.num_inputs; ++i)
      if (IsAny(*def_.inputs[i])) group.insert(i);
  group_.assign(group.begin(), group.end());
}

void CaseList::Add(const Sizes& sizes, Values values, const std::vector<Form>& forms,
                   int32_t alone) {
  Case c;
  c.alone = alone;
  c.values = values;
  for (int32_t i = 0; i < def_.num_inputs; ++i) {
    const OpwrightParamDef& param = *def_.inputs[i];
    const bool absent = param.kind == kOpwrightOptional && i < 64 && (sizes.absent >> i & 1) != 0;
    const Form form = forms.empty() ? Form::kFull : forms[static_cast<size_t>(i)];
    std::vector<Shape> tensors;
    const int64_t count = param.kind == kOpwrightDynamic ? sizes.dynamic : absent ? 0 : 1;
    for (int64_t k = 0; k < count; ++k)
      tensors.push_back(ShapeOf(param, i, ForItem(sizes, k), form));
    c.shapes.push_back(std::move(tensors));
  }
  const bool known = std::any_of(cases_.begin(), cases_.end(), [&](const Case& other) {
    return other.shapes == c.shapes && other.values == c.values && other.alone == c.alone;
  });
  if (!known) cases_.push_back(std::move(c));
}

std::vector<Case> CaseList::Take() {
  const bool many =
      std::any_of(cases_.begin(), cases_.end(), [](const Case& c) { return LargestOf(c) > 1; });
  for (Case& c : cases_) c.slight = c.values == Values::kZeros || (many && LargestOf(c) <= 1);
  return std::move(cases_);
}

}  // namespace opwright::check

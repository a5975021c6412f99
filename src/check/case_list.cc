// SPDX-License-Identifier: Apache-2.0
#include "check/case_list.h"

#include <algorithm>
#include <set>
#include <utility>

#include "runtime/strided.h"

namespace opwright::check {

namespace {

// Of a tensor of a case.
constexpr int64_t kMostElements = 65536;

// Makes axes that are long a quarter as long; false where none is.
bool Shrink(Sizes* sizes) {
  constexpr int64_t kShort = 16;
  bool any = false;
  for (std::vector<int64_t>* list : {&sizes->symbols, &sizes->unknown, &sizes->any})
    for (int64_t& size : *list) {
      if (size <= kShort) continue;
      size = size / 4 + 1;
      any = true;
    }
  return any;
}

// Whether a shape rule wants all of these inputs, which are several, in one shape.
bool TiesAll(const OpwrightOpDef& def, const std::set<int32_t>& inputs) {
  return inputs.size() > 1 &&
         std::any_of(def.shape_rules, def.shape_rules + def.num_outputs,
                     [&](const OpwrightShapeRule* rule) {
                       const std::set<int32_t> tied(rule->args, rule->args + rule->num_args);
                       return rule->kind == kOpwrightShapeSame &&
                              std::includes(tied.begin(), tied.end(), inputs.begin(), inputs.end());
                     });
}

}  // namespace

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
  if (group.empty()) {
    for (int32_t i = 0; i < def_.num_inputs; ++i)
      if (IsAny(*def_.inputs[i])) group.insert(i);
    if (TiesAll(def_, group)) group.clear();
  }
  group_.assign(group.begin(), group.end());
}

std::vector<int64_t> CaseList::AxesOfGroup(const Sizes& sizes) const {
  std::vector<int64_t> axes;
  for (const int32_t i : group_) {
    const OpwrightParamDef& param = *def_.inputs[i];
    if (IsAny(param)) continue;
    const Shape shape = ShapeOf(param, i, sizes, kFull);
    const size_t in_front = shape.size() - static_cast<size_t>(param.num_dims);
    if (axes.size() < shape.size()) axes.resize(shape.size(), -1);
    for (size_t k = 0; k < shape.size(); ++k) {
      const bool says = k < in_front || (param.dims[k - in_front] != -1 && shape[k] != 1);
      int64_t& axis = axes[shape.size() - 1 - k];
      if (says && axis < 0) axis = shape[k];
    }
  }
  return axes;
}

Sizes CaseList::ForGroup(Sizes sizes) const {
  const std::vector<int64_t> axes = AxesOfGroup(sizes);
  if (axes.empty()) return sizes;
  Shape any;  // from the last on
  for (size_t k = 0; k < std::max(axes.size(), sizes.any.size()); ++k) {
    const bool is_own = k >= axes.size();
    int64_t size = is_own        ? sizes.any[sizes.any.size() - 1 - k]
                   : axes[k] < 0 ? sizes.unknown[k % sizes.unknown.size()]
                                 : axes[k];
    // Alike they would broadcast by luck.
    while (is_own && size > 1 && std::find(any.begin(), any.end(), size) != any.end()) ++size;
    any.push_back(size);
  }
  sizes.any.assign(any.rbegin(), any.rend());
  if (sizes.tie != Tie::kPosition) return sizes;
  const std::vector<int64_t> cycle = sizes.unknown;
  while (sizes.unknown.size() < axes.size())
    sizes.unknown.push_back(cycle[sizes.unknown.size() % cycle.size()]);
  for (size_t k = 0; k < axes.size(); ++k)
    if (axes[k] >= 0) sizes.unknown[k] = axes[k];
  return sizes;
}

void CaseList::Add(const Sizes& sizes, Values values, const std::vector<Form>& forms, int32_t alone,
                   int32_t turn) {
  Case c = Make(sizes, forms);
  // An axis that stands twice in one list, as those of a square matrix.
  for (Sizes smaller = sizes; LargestOf(c) > kMostElements && Shrink(&smaller);)
    c.shapes = Make(smaller, forms).shapes;
  c.alone = alone;
  c.turn = turn;
  c.values = values;
  const bool known = std::any_of(cases_.begin(), cases_.end(), [&](const Case& other) {
    return other.shapes == c.shapes && other.values == c.values && other.alone == c.alone &&
           other.turn == c.turn;
  });
  if (!known) cases_.push_back(std::move(c));
}

Case CaseList::Make(const Sizes& sizes, const std::vector<Form>& forms) const {
  Case c;
  const Sizes of_group = ForGroup(sizes);
  for (int32_t i = 0; i < def_.num_inputs; ++i) {
    const OpwrightParamDef& param = *def_.inputs[i];
    const bool absent = param.kind == kOpwrightOptional && i < 64 && (sizes.absent >> i & 1) != 0;
    const Form form = forms.empty() ? kFull : forms[static_cast<size_t>(i)];
    const bool in_group = std::find(group_.begin(), group_.end(), i) != group_.end();
    std::vector<Shape> tensors;
    const int64_t count = param.kind == kOpwrightDynamic ? sizes.dynamic : absent ? 0 : 1;
    for (int64_t k = 0; k < count; ++k)
      tensors.push_back(ShapeOf(param, i, ForItem(in_group ? of_group : sizes, k), form));
    c.shapes.push_back(std::move(tensors));
  }
  return c;
}

void CaseList::AddBoth(const Sizes& sizes, const std::vector<Form>& forms) {
  if (AttrsWithSecond(def_).empty()) return Add(sizes, forms);
  Add(sizes, Values::kNormal, forms, -1, 0);
  Mark([&] { Add(sizes, Values::kNormal, forms, -1, 1); },
       [](Case* c) { c->first_column = c->sought = true; });
}

std::vector<Case> CaseList::Take() {
  const bool many =
      std::any_of(cases_.begin(), cases_.end(), [](const Case& c) { return LargestOf(c) > 1; });
  for (Case& c : cases_) c.slight = c.values == Values::kZeros || (many && LargestOf(c) <= 1);
  return std::move(cases_);
}

}  // namespace opwright::check

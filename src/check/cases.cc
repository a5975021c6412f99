// SPDX-License-Identifier: Apache-2.0
#include "check/cases.h"

#include <algorithm>
#include <set>

#include "base/dtype_name.h"
#include "base/text.h"
#include "check/case_shapes.h"
#include "runtime/strided.h"

namespace opwright::check {
namespace {

// Prime where there are few of them, never two alike.
const std::vector<int64_t> kSymbols = {3, 5, 2, 7, 4, 6, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
const std::vector<int64_t> kReversed = {5, 3, 7, 2, 6, 4, 9, 8, 11, 10, 13, 12, 15, 14, 17, 16};
const std::vector<int64_t> kMultiples = {8,  4,  16, 12, 24, 32, 20, 28,
                                         36, 40, 44, 48, 52, 56, 60, 64};

class Maker {
 public:
  explicit Maker(const OpwrightOpDef& def) : def_(def) {
    for (int32_t i = 0; i < def.num_inputs; ++i) {
      const OpwrightParamDef& param = *def.inputs[i];
      any_ = any_ || IsAny(param);
      if (param.leading_any != 0 && !IsAny(param)) leading_.push_back(i);
      unknown_ = unknown_ || std::find(param.dims, param.dims + param.num_dims, -1) !=
                                 param.dims + param.num_dims;
      optional_ = optional_ || param.kind == kOpwrightOptional;
      dynamic_ = dynamic_ || param.kind == kOpwrightDynamic;
    }
    FindGroup();
  }

  std::vector<Case> Make() {
    const Sizes base = Base();
    Add(base, "distinct dimensions");
    Add(base, "distinct dimensions", Values::kPositive);
    Sizes sizes = base;
    sizes.symbols = kReversed;
    sizes.unknown = {3, 5, 2, 7};
    sizes.any = {5, 3};
    sizes.leading = {3, 2};
    Add(sizes, "dimensions the other way round");
    AddRanks(base);
    AddBroadcasts(base);
    AddOptional(base);
    if (unknown_) {
      sizes = base;
      sizes.unknown = {5, 3, 2, 7, 4, 6, 8, 9, 10, 11};
      sizes.unknown_differ = true;
      Add(sizes, "each -1 of another size");
    }
    sizes = base;
    sizes.symbols = kMultiples;
    sizes.unknown = {8, 4, 12, 16};
    sizes.any = {4, 8};
    sizes.leading = {2};
    Add(sizes, "multiples of four");
    Add(Ones(base), "single elements");
    Add(base, "distinct dimensions", Values::kZeros);
    Add(base, "distinct dimensions", Values::kSpecial, false);
    AddEmpty(base);
    AddLarge(base);
    Add(base, "distinct dimensions", Values::kSomeZeros);
    Add(base, "distinct dimensions", Values::kOneZero);
    Add(base, "distinct dimensions", Values::kWide);
    return std::move(cases_);
  }

 private:
  static Sizes Base() {
    Sizes sizes;
    sizes.symbols = kSymbols;
    sizes.leading = {2};
    sizes.any = {3, 5};
    sizes.unknown = {5, 3, 2, 7};
    return sizes;
  }

  static Sizes Ones(Sizes sizes) {
    for (std::vector<int64_t>* list : {&sizes.symbols, &sizes.leading, &sizes.any, &sizes.unknown})
      std::fill(list->begin(), list->end(), 1);
    return sizes;
  }

  // The inputs that may differ in shape: those of broadcast(...), or all of any rank where the rule
  // does not tie them.
  void FindGroup() {
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

  void Add(const Sizes& sizes, const std::string& name, Values values = Values::kNormal,
           bool gradient = true, const std::vector<Form>& forms = {}) {
    Case c;
    c.name = name;
    c.values = values;
    c.gradient = gradient;
    for (int32_t i = 0; i < def_.num_inputs; ++i) {
      const OpwrightParamDef& param = *def_.inputs[i];
      const Form form = forms.empty() ? Form::kFull : forms[static_cast<size_t>(i)];
      std::vector<Shape> tensors;
      const int64_t count = param.kind == kOpwrightDynamic                       ? sizes.dynamic
                            : param.kind == kOpwrightOptional && !sizes.optional ? 0
                                                                                 : 1;
      for (int64_t k = 0; k < count; ++k)
        tensors.push_back(ShapeOf(param, i, ForItem(sizes, k), form));
      c.shapes.push_back(std::move(tensors));
    }
    const bool known = std::any_of(cases_.begin(), cases_.end(), [&](const Case& other) {
      return other.shapes == c.shapes && other.values == c.values;
    });
    if (!known) cases_.push_back(std::move(c));
  }

  void AddRanks(Sizes sizes) {
    if (!leading_.empty()) {
      for (const Shape& leading : {Shape{}, Shape{4, 2}}) {
        sizes.leading = leading;
        Add(sizes, "leading dimensions");
      }
      if (leading_.size() > 1 && group_.empty()) {  // a broadcast group has its forms
        for (const int32_t input : leading_) {
          sizes.shorter = input;
          Add(sizes, "leading dimensions that differ");
        }
        sizes.shorter = -1;
      }
      sizes.leading = {2};
    }
    if (any_) {
      for (const Shape& any : {Shape{}, Shape{5}, Shape{2, 3, 5}, Shape{2, 3, 4, 5}}) {
        sizes.any = any;
        Add(sizes, StrCat("rank ", static_cast<int64_t>(any.size())));
      }
    }
  }

  void AddBroadcasts(const Sizes& base) {
    if (group_.size() < 2) return;
    constexpr std::pair<Form, const char*> kForms[] = {
        {Form::kRow, "a row against a matrix"},
        {Form::kColumn, "a column against a matrix"},
        {Form::kKeptRow, "a row with kept dimensions"},
        {Form::kScalar, "a scalar"},
        {Form::kOne, "one element"}};
    const auto inputs = static_cast<size_t>(def_.num_inputs);
    for (const auto& [form, name] : kForms) {
      for (int32_t smaller : group_) {
        std::vector<Form> forms(inputs, Form::kFull);
        forms[static_cast<size_t>(smaller)] = form;
        Add(base, name, Values::kNormal, true, forms);
      }
    }
    for (int32_t column : group_) {
      std::vector<Form> forms(inputs, Form::kKeptRow);
      forms[static_cast<size_t>(column)] = Form::kColumn;
      Add(base, "broadcast from two sides", Values::kNormal, true, forms);
    }
    // Each in a way of its own: a matrix, a row, a column.
    constexpr Form kWays[] = {Form::kFull, Form::kRow, Form::kColumn};
    for (size_t turn = 0; turn < 3 && group_.size() >= 3; ++turn) {
      std::vector<Form> forms(inputs, Form::kFull);
      for (size_t k = 0; k < group_.size(); ++k)
        forms[static_cast<size_t>(group_[k])] = kWays[(k + turn) % 3];
      Add(base, "each broadcast in its own way", Values::kNormal, true, forms);
    }
    // A parameter that a whole batch shares.
    Sizes batch = base;
    batch.any = {5, 2, 3};
    for (int32_t full : group_) {
      std::vector<Form> forms(inputs, Form::kRow);
      forms[static_cast<size_t>(full)] = Form::kFull;
      Add(batch, "rows against a batch", Values::kNormal, true, forms);
    }
  }

  void AddOptional(Sizes sizes) {
    if (optional_) {
      sizes.optional = false;
      Add(sizes, "optional inputs absent");
      sizes.optional = true;
    }
    if (dynamic_) {
      for (int64_t count : {1, 3}) {
        sizes.dynamic = count;
        Add(sizes, StrCat("lists of ", count));
      }
      sizes.ragged = true;
      Add(sizes, "lists of different shapes");
    }
  }

  void AddEmpty(const Sizes& base) {
    for (int32_t s = 0; s < std::min(def_.num_symbols, 4); ++s) {
      Sizes sizes = base;
      sizes.symbols[static_cast<size_t>(s)] = 0;
      Add(sizes, StrCat(def_.symbols[s], " = 0"));
    }
    Sizes sizes = base;
    sizes.leading = {0};
    sizes.any = {0, 3};
    sizes.unknown = {0, 3, 2, 7};
    Add(sizes, "empty");
    sizes.any = {3, 0};
    sizes.unknown = {3, 0, 2, 7};
    Add(sizes, "empty");
    sizes.any = {0, 3};
    if (group_.size() < 2) return;
    for (int32_t row : group_) {
      std::vector<Form> forms(static_cast<size_t>(def_.num_inputs), Form::kFull);
      forms[static_cast<size_t>(row)] = Form::kRow;
      Add(sizes, "an empty batch", Values::kNormal, true, forms);
    }
  }

  // A few thousand elements in the largest input.
  void AddLarge(const Sizes& base) {
    Sizes sizes = base;
    const bool few = def_.num_symbols <= 1 && leading_.empty();
    if (few) {
      sizes.symbols = {101};
      sizes.any = {101};
      sizes.unknown = {37, 3, 2, 7};
      Add(sizes, "a length that no block divides");
    }
    sizes.symbols = few ? std::vector<int64_t>{4099} : std::vector<int64_t>{61, 67, 59, 3, 2, 4, 5};
    if (def_.num_symbols > 3) sizes.symbols = {11, 13, 17, 19, 7, 5, 3, 2};
    sizes.leading = {37};
    sizes.any = {61, 67};
    sizes.unknown = {67, 61, 2, 3};
    Add(sizes, "larger", Values::kNormal, true);
  }

  const OpwrightOpDef& def_;
  std::vector<Case> cases_;
  std::vector<int32_t> group_;
  std::vector<int32_t> leading_;  // the inputs with "..." before other dimensions
  bool any_ = false;
  bool unknown_ = false;
  bool optional_ = false;
  bool dynamic_ = false;
};

}  // namespace

std::vector<Case> MakeCases(const OpwrightOpDef& def) { return Maker(def).Make(); }

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

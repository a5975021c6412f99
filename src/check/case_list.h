// SPDX-License-Identifier: Apache-2.0
//
// The cases of one operator while they are made, each once, and what its metadef has that they go
// by.
#pragma once

#include <cstdint>
#include <vector>

#include "check/case_shapes.h"
#include "check/cases.h"
#include "opwright/c_api.h"

namespace opwright::check {

// No two dimensions alike.
Sizes DistinctSizes();
// Multiples of four.
Sizes MultipleSizes();

int64_t LargestOf(const Case& c);  // of its tensors, in elements
int64_t ElementsOf(const Case& c);  // of all of them
bool HasEmpty(const Case& c);  // one of them

// Elements of a tensor of which differences take long.
constexpr int64_t kMany = 1000;

class CaseList {
 public:
  explicit CaseList(const OpwrightOpDef& def);

  // Of no effect where there is one like it.
  void Add(const Sizes& sizes, Values values = Values::kNormal) { Add(sizes, values, {}, -1); }
  void Add(const Sizes& sizes, const std::vector<Form>& forms) {  // of each input
    Add(sizes, Values::kNormal, forms, -1);
  }
  // With both values of attributes, which else go by turns; with the second ones in one column.
  void AddBoth(const Sizes& sizes, const std::vector<Form>& forms = {});
  void AddLongAxis(const Sizes& sizes, const std::vector<Form>& forms = {}) {
    Mark([&] { AddBoth(sizes, forms); }, [](Case* c) { c->long_axis = c->samples_few = true; });
  }
  // Of a large one a few elements are compared. It may be refused.
  void AddSampled(const Sizes& sizes) {
    Mark([&] { Add(sizes); },
         [](Case* c) {
           c->samples_few = LargestOf(*c) > kMany;
           c->sought = true;
         });
  }
  // In one column. It may be refused.
  void AddFirstColumn(const Sizes& sizes, const std::vector<Form>& forms) {
    Mark([&] { Add(sizes, forms); }, [](Case* c) { c->first_column = c->sought = true; });
  }
  // It may be refused.
  void AddSought(const Sizes& sizes) {
    Mark([&] { AddBoth(sizes); }, [](Case* c) { c->sought = true; });
  }
  void AddAlone(const Sizes& sizes, int32_t attr) { Add(sizes, Values::kNormal, {}, attr); }

  const std::vector<Case>& cases() const { return cases_; }
  // After the last one.
  std::vector<Case> Take();

  const OpwrightOpDef& def() const { return def_; }
  // The inputs that may differ in shape: those of broadcast(...), or all of any rank where the rule
  // does not tie them.
  const std::vector<int32_t>& group() const { return group_; }
  const std::vector<int32_t>& leading() const { return leading_; }
  const std::vector<int32_t>& optional() const { return optional_; }
  bool has_any() const { return has_any_; }
  bool has_dynamic() const { return has_dynamic_; }
  int32_t unknown() const { return unknown_; }

 private:
  void Add(const Sizes& sizes, Values values, const std::vector<Form>& forms, int32_t alone,
           int32_t turn = -1);
  // Of the cases that are added.
  template <class AddCases, class MarkCase>
  void Mark(const AddCases& add, const MarkCase& mark) {
    const size_t known = cases_.size();
    add();
    for (size_t k = known; k < cases_.size(); ++k) mark(&cases_[k]);
  }
  // With shapes alone.
  Case Make(const Sizes& sizes, const std::vector<Form>& forms) const;
  void FindGroup();
  // The sizes of the group's axes, from the last on, as its inputs say them; -1: none does.
  std::vector<int64_t> AxesOfGroup(const Sizes& sizes) const;
  // With inputs of any rank, and dimensions that are -1, that broadcast with what the others say.
  Sizes ForGroup(Sizes sizes) const;

  const OpwrightOpDef& def_;
  std::vector<Case> cases_;
  std::vector<int32_t> group_;
  std::vector<int32_t> leading_;  // the inputs with "..." before other dimensions
  std::vector<int32_t> optional_;
  bool has_any_ = false;  // an input of any shape
  bool has_dynamic_ = false;
  int32_t unknown_ = 0;  // inputs with a -1
};

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
#include "check/case_broadcasts.h"

#include <algorithm>

namespace opwright::check {

std::vector<Form> Forms(const CaseList& list, int32_t input, const Form& own, const Form& others) {
  std::vector<Form> forms(static_cast<size_t>(list.def().num_inputs), others);
  forms[static_cast<size_t>(input)] = own;
  return forms;
}

void AddBroadcasts(CaseList* list) {
  const std::vector<int32_t>& group = list->group();
  if (group.size() < 2) return;
  const Sizes sizes = DistinctSizes();
  for (const Form& form : {kRow, kColumn, kKeptRow, kScalar, kOne})
    for (const int32_t smaller : group) list->Add(sizes, Forms(*list, smaller, form, kFull));
  // From two sides.
  for (const int32_t column : group) list->Add(sizes, Forms(*list, column, kColumn, kKeptRow));
  // Each in a way of its own: a matrix, a row, a column.
  constexpr Form kWays[] = {kFull, kRow, kColumn};
  for (size_t turn = 0; turn < 3 && group.size() >= 3; ++turn) {
    std::vector<Form> forms(static_cast<size_t>(list->def().num_inputs), kFull);
    for (size_t k = 0; k < group.size(); ++k)
      forms[static_cast<size_t>(group[k])] = kWays[(k + turn) % 3];
    list->Add(sizes, forms);
  }
  // A parameter that a whole batch shares.
  Sizes batch = sizes;
  batch.any = {5, 2, 3};
  for (const int32_t full : group) list->Add(batch, Forms(*list, full, kFull, kRow));
}

void AddSubsetsOfAxes(CaseList* list) {
  constexpr size_t kMostInputs = 4;
  const std::vector<int32_t>& group = list->group();
  if (group.size() < 2) return;
  Sizes sizes = DistinctSizes();
  for (const Shape& any : {Shape{3, 5}, Shape{2, 3, 5}, Shape{2, 3, 4, 5}}) {
    sizes.any = any;
    const uint32_t all = 1u << any.size();
    for (uint32_t ones = 1; ones < all; ++ones)
      for (size_t k = 0; k < std::min(group.size(), kMostInputs); ++k)
        for (const Form& form : {Form{ones}, Form{ones, 0}})
          list->AddFirstColumn(sizes, Forms(*list, group[k], form, kFull));
  }
}

}  // namespace opwright::check

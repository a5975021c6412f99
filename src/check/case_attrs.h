// SPDX-License-Identifier: Apache-2.0
//
// The cases that an operator's attributes ask for: sizes, values and attributes alone.
#pragma once

#include "check/case_list.h"

namespace opwright::check {

// After the ordinary cases.
void AddCasesOfAttrs(CaseList* list);

// Defaults of int attributes that may be numbers of groups, or sizes of windows.
std::vector<int64_t> GroupsOfAttrs(const OpwrightOpDef& def);

// Of an operator that wants dimensions that this number divides: one after the other is, then two
// neighbours are.
std::vector<Case> CasesOfMultiples(const OpwrightOpDef& def, int64_t number);

}  // namespace opwright::check

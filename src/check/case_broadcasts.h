// SPDX-License-Identifier: Apache-2.0
//
// Cases of inputs that broadcast with each other.
#pragma once

#include <cstdint>
#include <vector>

#include "check/case_list.h"
#include "check/case_shapes.h"

namespace opwright::check {

// Of each input: one of them has a form of its own.
std::vector<Form> Forms(const CaseList& list, int32_t input, const Form& own, const Form& others);

// Rows, columns and single elements beside whole ones.
void AddBroadcasts(CaseList* list);

// Each subset of the axes is 1, in two dimensions to four; those in front are there and left out.
void AddSubsetsOfAxes(CaseList* list);

}  // namespace opwright::check

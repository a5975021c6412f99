// SPDX-License-Identifier: Apache-2.0
//
// What an operator that refused other shapes may want: a named dimension that is a multiple of
// another one, as the heads of grouped queries and the channels of grouped convolutions are, or
// dimensions that are multiples of a number, as the height and width of windows are.
#pragma once

#include <cstdint>
#include <vector>

#include "check/cases.h"
#include "opwright/c_api.h"

namespace opwright::check {

// Two of an operator's named dimensions. Cases of one kind are to be tried until one is taken.
struct DimPair {
  int32_t larger = 0;
  int32_t smaller = 0;
};

// In both orders, not many; those at the same place of two inputs come first.
std::vector<DimPair> PairsOfDims(const OpwrightOpDef& def);

// Whether they are of two sizes in this case.
bool Differ(const OpwrightOpDef& def, const DimPair& pair, const Case& c);

// Of one size.
std::vector<Case> CasesOfEqual(const OpwrightOpDef& def, const DimPair& pair);

// The one is twice the other, then four times.
std::vector<Case> CasesOfMultiple(const OpwrightOpDef& def, const DimPair& pair);

// What two dimensions may have to be multiples of: defaults of attributes, and usual sizes of
// windows and patches.
std::vector<int64_t> UsualMultiples(const OpwrightOpDef& def);

}  // namespace opwright::check

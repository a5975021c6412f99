// SPDX-License-Identifier: Apache-2.0
//
// Which attribute values an operator is tried with. A default such as 1 hides a factor that a
// gradient forgets: ints, floats and bools have a second value, near the first one. Those of one
// type differ, so that a gradient that takes one for the other shows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opwright/c_api.h"

namespace opwright::check {

constexpr int64_t kMostListItems = 16;

struct SecondValues {
  uint64_t which = 0;  // bit i: attribute i has its second value
  bool middle = false;  // what may be an axis from the end becomes a middle one, not the next one
  int64_t length = 1;  // of the lists that are required, up to kMostListItems

  bool none() const { return which == 0; }
  bool operator==(const SecondValues&) const = default;
};

// The attributes that have a second value.
std::vector<int32_t> AttrsWithSecond(const OpwrightOpDef& def);

// Whether an int is small and negative by default, as an axis from the end is.
bool MayBeAxis(const OpwrightAttrDef& def);

// What a call is to be tried with until the operator accepts it; none is among them. A call with an
// odd seed begins with all of them, one with an even seed with none.
std::vector<SecondValues> AttrChoices(const OpwrightOpDef& def, uint64_t seed, bool middle);

// Of a call in which one attribute alone has its second value.
std::vector<SecondValues> AloneChoices(int32_t attr, bool middle);

// A value for each attribute: the default, something harmless for a required one, or the second.
std::vector<OpwrightAttr> MakeAttrs(const OpwrightOpDef& def, const SecondValues& second);

bool HasRequiredList(const OpwrightOpDef& def);

// "weights=[0.5]": those that are required and have their first value.
std::string RequiredText(const OpwrightOpDef& def, const SecondValues& second);

// "exponent=3, flag=false": those with their second value.
std::string SecondValuesText(const OpwrightOpDef& def, const SecondValues& second);

}  // namespace opwright::check

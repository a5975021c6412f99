// SPDX-License-Identifier: Apache-2.0
//
// Which attribute values an operator is tried with. A default such as 1 hides a factor that a
// gradient forgets: ints, floats and bools have a second value, near the first one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opwright/c_api.h"

namespace opwright::check {

// Bit i: attribute i has its second value.
using SecondValues = uint64_t;

// What a call is to be tried with until the operator accepts it; the last is none. A call with an
// even seed has none.
std::vector<SecondValues> AttrChoices(const OpwrightOpDef& def, uint64_t seed);

// A value for each attribute: the default, something harmless for a required one, or the second.
std::vector<OpwrightAttr> MakeAttrs(const OpwrightOpDef& def, SecondValues second);

// "exponent=3, flag=false": those with their second value.
std::string SecondValuesText(const OpwrightOpDef& def, SecondValues second);

}  // namespace opwright::check

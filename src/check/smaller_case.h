// SPDX-License-Identifier: Apache-2.0
//
// A case again with fewer elements, for operators whose time grows faster than their inputs.
#pragma once

#include "check/cases.h"

namespace opwright::check {

// Equal dimensions stay equal, and those that the metadef fixes as they are. Where none is long it
// is the same case.
Case SmallerCase(const OpwrightOpDef& def, const Case& c);

}  // namespace opwright::check

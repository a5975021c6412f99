// SPDX-License-Identifier: Apache-2.0
//
// A case again with fewer elements, for operators whose time grows faster than their inputs.
#pragma once

#include "check/cases.h"

namespace opwright::check {

// Equal dimensions stay equal. Where none is long it is the same case.
Case SmallerCase(const Case& c);

}  // namespace opwright::check

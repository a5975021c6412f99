// SPDX-License-Identifier: Apache-2.0
//
// Whether a kernel can run under a metadef that it was not built with.
#pragma once

#include "base/error.h"
#include "opwright/c_api.h"

namespace opwright {

// A function kernel is compiled for one list of inputs, outputs, dtype columns and attributes:
// RG005 names the first that differs. A class kernel asks at each call and takes any metadef.
Status FitsKernel(const OpwrightOperatorEntry& entry, const OpwrightOpDef& model);

}  // namespace opwright

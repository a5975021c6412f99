// SPDX-License-Identifier: Apache-2.0
//
// Which dtype column a call takes: the exact one, else by the metadef's mixed_dtypes; and which one
// a backward operator takes.
#pragma once

#include <cstdint>

#include "base/error.h"
#include "opwright/c_api.h"

namespace opwright {

// The column; CL002 when there is none. Checks that each input is there as its kind wants (CL001).
Expected<int32_t> SelectColumn(const OpwrightOpDef& def, const OpwrightArgument* inputs,
                               int32_t num_inputs);

// For a call of `backward` as the gradient of another operator: the first column in which all saved
// inputs are exact and the gradients are widest; else the first that holds all without loss.
// role[i]: what input i is. Gradients are converted to the column whatever they are.
Expected<int32_t> SelectGradientColumn(const OpwrightOpDef& backward, const OpwrightRole* roles,
                                       const OpwrightArgument* inputs);

}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
//
// Shapes for graph compilers, where dimensions may be unknown until run time: -1 for a dimension,
// [-2] for an unknown rank. Unknown in, unknown out.
#pragma once

#include <cstdint>
#include <vector>

#include "opwright/c_api.h"

namespace opwright {

using PartialShape = std::vector<int64_t>;

// What the shape rules say of the shapes that are known, one an output. Every input of the
// definition must be one tensor. attrs: one an attribute, type 0 for the default. Where an input
// cannot be right the result is unknown: the call itself says what is wrong.
std::vector<PartialShape> InferPartialShapes(const OpwrightOpDef& def,
                                             const std::vector<PartialShape>& inputs,
                                             const OpwrightAttr* attrs);

}  // namespace opwright

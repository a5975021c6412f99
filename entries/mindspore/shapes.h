// SPDX-License-Identifier: Apache-2.0
//
// Shapes for MindSpore's graph compiler, where dimensions may be unknown until run time: -1 for a
// dimension, [-2] for a rank. Unknown in, unknown out.
#pragma once

#include <cstdint>
#include <vector>

#include "opwright/c_api.h"
#include "opwright/stub.h"

namespace opwright::entries {

using MindSporeShape = std::vector<int64_t>;

// The whole of an InferShape function: what the shape rules say of the shapes that are known,
// attributes from `extra`. What cannot be inferred is of unknown rank: the call says what is wrong. An
// operator with optional inputs or lists is refused: MindSpore does not say how many shapes there are.
OpwrightVector InferForMindSpore(const OpwrightOpDef& def, const int* ndims,
                                 const int64_t* const* shapes, void* extra);

// What MindSpore takes as a std::vector<int64_t>, or of several outputs as a vector of such.
OpwrightVector ToMindSpore(std::vector<MindSporeShape> shapes);

}  // namespace opwright::entries

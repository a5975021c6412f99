// SPDX-License-Identifier: Apache-2.0
//
// MindSpore's InferShape functions, which it calls for graphs with unknown dimensions.
#pragma once

#include <cstdint>
#include <vector>

#include "base/error.h"
#include "opwright/c_api.h"
#include "opwright/stub.h"
#include "runtime/launch.h"
#include "runtime/partial_shape.h"

namespace opwright::entries {

// Shapes where all is known, by the dispatcher or the kernel.
using InferKnown = opwright::Status (*)(void* context, const OpwrightArgument* inputs,
                                        const OpwrightAttr* attrs, InferredOutput* result,
                                        Arena& arena);

// MindSpore does not say how many shapes it hands over. Whoever leaves an optional input at the end
// out hands over fewer than the metadef lists: only those up to the last required one are sure.
int32_t NumInputsSurelyGiven(const OpwrightOpDef& def);

// The whole of an InferShape function, attributes from `extra`. While a graph is compiled shapes
// may be partial; when it runs they are known. Throws std::runtime_error in our words. The first
// num_given inputs are read; it is assumed that MindSpore, which infers with tensors only, has a
// shape for each of them. The others may be there or not: where the result depends on that, and
// where an input is a list, it throws.
OpwrightVector InferForMindSpore(const OpwrightOpDef& def, int32_t num_given, int* ndims,
                                 int64_t** shapes, void* extra, InferKnown infer, void* context);

// What MindSpore takes as a std::vector<int64_t>, or of several outputs as a vector of such.
OpwrightVector ToMindSpore(std::vector<PartialShape> shapes);

}  // namespace opwright::entries

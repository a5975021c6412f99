// SPDX-License-Identifier: Apache-2.0
//
// The adjoint of broadcasting: a gradient summed to the shape that was broadcast.
#pragma once

#include "opwright/c_api.h"

namespace opwright {

// Whether `to` has a shape that broadcasting makes `from`'s of.
bool SumsTo(const OpwrightTensor& from, const OpwrightTensor& to);

// Sums in float64 and rounds once. Both dense; the shapes must be so related. False, and nothing is
// written, unless both are of float dtypes.
[[nodiscard]] bool SumTo(const OpwrightTensor& from, const OpwrightTensor& to);

}  // namespace opwright

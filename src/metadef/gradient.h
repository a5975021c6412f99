// SPDX-License-Identifier: Apache-2.0
//
// The binding of a backward operator.
#pragma once

#include <string>
#include <vector>

#include "metadef/metadef.h"

namespace opwright::metadef {

// What does not fit; empty when all does. backward: null checks the names of a long form only.
std::vector<Diagnostic> CheckGradient(const Operator& forward, const Operator* backward,
                                      Binding* binding);

// The dtypes of the inputs of each forward column for which the backward operator has none, though
// a gradient is due: "(float16, float16)". The binding is without errors.
std::vector<std::string> ColumnsWithoutGradient(const Operator& forward, const Operator& backward,
                                                const Binding& binding);

}  // namespace opwright::metadef

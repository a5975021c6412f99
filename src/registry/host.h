// SPDX-License-Identifier: Apache-2.0
//
// The services that libopwright.so hands to kernels: aligned memory, a small pool in which the
// caller works too, a log on stderr.
#pragma once

#include "opwright/c_api.h"

namespace opwright {

const OpwrightHost* DefaultHost();

// What all calls of this process from here on get in its place; null: itself. For opwright check,
// which runs the parts of a loop in an order of its own.
void ReplaceHost(const OpwrightHost* host);

}  // namespace opwright

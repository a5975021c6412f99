// SPDX-License-Identifier: Apache-2.0
//
// The services that libopwright.so hands to kernels: aligned memory, a small pool in which the
// caller works too, a log on stderr.
#pragma once

#include "opwright/c_api.h"

namespace opwright {

const OpwrightHost* DefaultHost();

}  // namespace opwright

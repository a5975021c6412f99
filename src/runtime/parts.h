// SPDX-License-Identifier: Apache-2.0
//
// The parts of a loop that a host runs for a kernel: those of opwright/view.h.
#pragma once

#include "opwright/view.h"

namespace opwright {

using detail::Parts;

}  // namespace opwright

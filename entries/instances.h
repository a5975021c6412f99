// SPDX-License-Identifier: Apache-2.0
//
// The kernels of this library, made once each, for the entries that call them without
// libopwright.so.
#pragma once

#include "base/error.h"
#include "opwright/stub.h"

namespace opwright::entries {

// The kernel's object of operator `index` of the stub, made at the first call.
Expected<void*> KernelInstance(int32_t index);

}  // namespace opwright::entries

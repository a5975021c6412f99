// SPDX-License-Identifier: Apache-2.0
//
// Errors across the C boundary, both ways.
#pragma once

#include "base/error.h"
#include "opwright/c_api.h"

namespace opwright {

// Never null, never throws: without memory it is one fixed error.
OpwrightError* ToC(const Error& error) noexcept;

// Takes the error over and destroys it.
Error FromC(OpwrightError* error);

}  // namespace opwright

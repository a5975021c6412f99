// SPDX-License-Identifier: Apache-2.0
//
// Errors for MindSpore, which shows the words of a std::exception to the user, and of a returned
// code only the number.
#pragma once

#include <stdexcept>

#include "base/error.h"

namespace opwright::entries {

// 0, or the error thrown as std::runtime_error.
inline int ThrowIfError(const opwright::Status& status) {
  if (!status.ok()) throw std::runtime_error(status.error().Text());
  return 0;
}

}  // namespace opwright::entries

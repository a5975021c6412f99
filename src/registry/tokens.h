// SPDX-License-Identifier: Apache-2.0
//
// Operators by a number that means the same content in every process: what a framework may keep in
// a graph, even on disk.
#pragma once

#include <cstdint>
#include <memory>

#include "registry/library.h"

namespace opwright {

// Of the library's content, the operator, its metadef and its gradient; positive. From here on
// FindByToken finds the operator, as long as the process lives.
int64_t TokenOf(const std::shared_ptr<Operator>& op);

// Null when no such operator was given a token in this process.
std::shared_ptr<Operator> FindByToken(int64_t token);

}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
//
// The lists among attributes in guarded memory: a kernel that goes on to the size of a tensor reads
// past a list, and what stands there is luck.
#pragma once

#include <memory>
#include <vector>

#include "check/guarded_buffer.h"
#include "opwright/c_api.h"

namespace opwright::check {

using GuardedLists = std::vector<std::shared_ptr<GuardedBuffer>>;

// Lets each list of attrs, which are those of def, be what it was in memory of its own, which lives
// as long as the result.
GuardedLists GuardLists(const OpwrightOpDef& def, std::vector<OpwrightAttr>* attrs);

}  // namespace opwright::check

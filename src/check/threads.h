// SPDX-License-Identifier: Apache-2.0
//
// One call made on several threads at once: do the calls disturb each other?
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/error.h"
#include "check/operands.h"
#include "check/record.h"

namespace opwright::check {

// Makes the call on tensors in the order of the operands.
using Invoke = std::function<Status(OpwrightTensor* tensors)>;

// Other values of the operands that are read, as valid as their own; the rest is empty.
using OtherValues = std::function<Bytes()>;

// The same elements, each moved by one place.
Bytes Moved(const std::vector<Operand>& operands);

// call: "forward of fused_add_scale". expected: the results of a call alone.
void CheckThreads(Recorder* recorder, const std::string& call, const std::vector<Operand>& operands,
                  const Invoke& invoke, const Bytes& other, const Bytes& expected);

}  // namespace opwright::check

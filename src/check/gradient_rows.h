// SPDX-License-Identifier: Apache-2.0
//
// The rows of a report, one for each gradient that may be due, and what is said of those that
// cannot be compared.
#pragma once

#include <cstdint>

namespace opwright {
class Operator;
}  // namespace opwright

namespace opwright::check {

class Tally;

// Puts the rows, the note and what is found without a call into the report; before the first case.
// The column in which differences are taken; -1: none.
int32_t PrepareRows(Operator& op, Tally* tally);

}  // namespace opwright::check

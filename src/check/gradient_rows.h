// SPDX-License-Identifier: Apache-2.0
//
// The rows of a report, one for each gradient that may be due, and what is said of those that
// cannot be compared.
#pragma once

#include <cstdint>
#include <string>

namespace opwright {
class Operator;
}  // namespace opwright

namespace opwright::check {

class Tally;

// Of a backward operator whose forward operator is in the library and does not name it: what is
// said instead of a verdict, since alone it would be judged by shapes that never come; "" of any
// other.
std::string ForgottenText(const Operator& op);

// Puts the rows, the note and what is found without a call into the report; before the first case.
// The column in which differences are taken; -1: none.
int32_t PrepareRows(Operator& op, Tally* tally);

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// What is said of a child that did not finish its case.
#pragma once

#include <string>

#include "check/child.h"
#include "check/report.h"

namespace opwright::check {

// "SIGSEGV (Segmentation fault)"
std::string SignalText(int number);

// number: an errno.
std::string NoChildText(int number);

// op: the operator's name. The case is not set.
Finding FindingOfEnding(const Outcome& outcome, const ChildState& state, const std::string& op,
                        double timeout_seconds);

// Of a case whose calls each return, but not all of them in time.
Finding FindingOfSlow(double timeout_seconds);

}  // namespace opwright::check

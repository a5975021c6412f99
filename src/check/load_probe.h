// SPDX-License-Identifier: Apache-2.0
//
// Code of a library that runs without any call: its static constructors at the load, its
// destructors at the end of a process.
#pragma once

#include <optional>
#include <string>

#include "check/report.h"

namespace opwright::check {

// What is wrong when a child loads the library and runs what it does at the end of a process. None:
// nothing, or the load is refused, or the library is loaded already and its constructors have run.
std::optional<Finding> ProbeLoad(const std::string& path, double timeout_seconds);

}  // namespace opwright::check

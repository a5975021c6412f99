// SPDX-License-Identifier: Apache-2.0
//
// The doctor: what this machine and environment have, what is wrong with them, and the cure.
#pragma once

#include <string>
#include <vector>

#include "doctor/finding.h"

namespace opwright::doctor {

struct Options {
  std::string python;  // the program to ask; "": of $VIRTUAL_ENV, else python3 in PATH
  double seconds = 60;  // what Python may take for its answer
};

struct Area {
  std::string name;
  Findings findings;
};

struct Report {
  std::string python;  // that was asked; "" none
  std::vector<Area> areas;

  int Count(Level level) const;
};

Report Examine(const Options& options);

// One line a finding, its cure below it. color: for a terminal.
std::string RenderText(const Report& report, bool color);
std::string RenderJson(const Report& report);

}  // namespace opwright::doctor

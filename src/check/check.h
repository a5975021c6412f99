// SPDX-License-Identifier: Apache-2.0
//
// opwright check: whether a library's operators keep their contract and their gradients are right,
// found out by running them in child processes between guard pages, before any training step.
//
//   Expected<check::Report> report = check::CheckLibrary("fused_add_scale", {});
//   if (report.ok()) fputs(check::RenderText(*report).c_str(), stdout);
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "check/report.h"

namespace opwright {
class Library;
class Operator;
}  // namespace opwright

namespace opwright::check {

struct Options {
  uint64_t seed = 1;
  std::string op;  // the only operator to check; empty: all
  double timeout_seconds = 60;  // of one case
};

// A folder is built first. The error is that of the build, of the load, or LD013.
Expected<Report> CheckLibrary(const std::string& path, const Options& options);
Expected<Report> CheckLibrary(const Library& library, const Options& options);

// The operator and, through it, its backward operator.
OperatorReport CheckOperator(Operator& op, const Options& options);

}  // namespace opwright::check

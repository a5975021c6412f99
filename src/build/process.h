// SPDX-License-Identifier: Apache-2.0
//
// Runs a program, mostly a compiler: no shell, text given on standard input, output captured.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace opwright::build {

struct Finished {
  int exit_code = 0;  // 128 + the signal's number when it was killed
  std::string output;  // standard output and error, in the order of writing
  bool timed_out = false;  // killed, with the programs that it started
  bool ok() const { return exit_code == 0; }
};

struct RunOptions {
  std::string_view input;
  double seconds = 0;  // the time it may take; 0: any
  bool in_working_folder =
      false;  // else in "/", so that its output does not depend on the caller's
};

// argv[0] is a path. The program runs under C.UTF-8, so that its messages are English and paths
// keep their bytes.
Expected<Finished> RunProcess(const std::vector<std::string>& argv, const RunOptions& options);
Expected<Finished> RunProcess(const std::vector<std::string>& argv, std::string_view input = {});

// The command as one could type it.
std::string CommandText(const std::vector<std::string>& argv);

// How many compilers may run at once: $MAX_JOBS, the processors this process may use, its cgroup's
// quota.
int CompileJobs();

}  // namespace opwright::build

// SPDX-License-Identifier: Apache-2.0
//
// From sources to an operator library: read what kernels there are, generate the stub, drive the
// compiler, keep the result under the hash of everything that went into it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "build/cache.h"
#include "build/toolchain.h"

namespace opwright::build {

struct Request {
  std::vector<std::string> sources;  // one folder, or C++ sources, objects and .json metadefs
  std::string output;  // empty: into the cache
  std::string march;  // "" the baseline, x86-64; recorded, and checked at load
  std::vector<std::string> flags;  // further compiler flags (-I -D -L -l ...)
  bool allow_no_metadef = false;  // aoc: bound later by register_operator_model
  bool verbose = false;
};

struct Result {
  std::string path;  // absolute
  std::optional<FileLock> kept;  // `opwright cache clear` waits for it, wherever the path is
  bool cache_hit = false;
  std::vector<Diagnostic> warnings;
  std::vector<std::string> commands;  // the compiler commands that were run
};

// In the user's cache, with the compilers of this machine.
Expected<Result> Build(const Request& request);
Expected<Result> BuildIn(Cache* cache, const Toolchain& toolchain, const Request& request);

}  // namespace opwright::build

// SPDX-License-Identifier: Apache-2.0
//
// Objects in the cache: the key of one, and making it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "build/cache.h"
#include "build/plan.h"
#include "build/toolchain.h"

namespace opwright::build {

// One compilation, without output files.
struct CompileJob {
  std::vector<std::string> command;
  std::string input;  // the text that is compiled, given on standard input
  std::string source;  // the user's file, "" for the stub
  std::string content;  // of the source
  std::string base_key;  // of all that is known without the headers
  std::vector<std::string> search_folders;
};

CompileJob UnitJob(const Unit& unit, const Plan& plan, const Compiler& compiler,
                   const Assumed& assumed);
CompileJob StubJob(const std::string& text, const Compiler& compiler);

// The key of the object, when the headers of the last compilation are known.
std::optional<std::string> KnownKey(const Cache& cache, const CompileJob& job);

std::string ObjectPath(const Cache& cache, const std::string& key);

struct Compiled {
  std::string key;
  bool ran = false;
  bool unsteady = false;  // a file changed while it was compiled: the object is not kept
  std::string command;
  std::vector<Diagnostic> warnings;
};

// The object, from the cache or made. A header that is newer than the compilation makes it
// unsteady, but not in the last attempt: its time may be wrong for good.
Expected<Compiled> CompileObject(const Cache& cache, const CompileJob& job, bool last_attempt);

// A failing command's whole output, in the cache; returns the path, or "" when it cannot be
// written.
std::string WriteLog(const Cache& cache, const std::string& name, const std::string& command,
                     const std::string& output);

// Opwright's version and interface in plain text, the first field of every key.
std::string BuildIdentity();

}  // namespace opwright::build

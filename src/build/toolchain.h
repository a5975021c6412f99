// SPDX-License-Identifier: Apache-2.0
//
// The compilers of this machine and what tells one from another.
#pragma once

#include <string>
#include <vector>

#include "base/cpu_features.h"
#include "base/error.h"
#include "build/cache.h"
#include "build/flags.h"

namespace opwright::build {

struct Compiler {
  std::vector<std::string> command;  // the program's path, then what $CXX says after it
  std::string version;  // the first line of --version
  std::string identity;  // changes when the program does
  bool clang = false;
};

struct Toolchain {
  Compiler cxx;  // $CXX, else c++, g++ or clang++
  Compiler c;  // $CC, else cc, gcc or clang
};

// A compiler that the cache knows is not started.
Expected<Toolchain> FindToolchain(const Cache& cache);
Expected<Compiler> FindCxxCompiler(const Cache& cache);
Expected<Compiler> FindCCompiler(const Cache& cache);

// The absolute path of a program in PATH, or of one named with a folder; "" when it is not there.
std::string FindProgram(const std::string& name);

// What a compiler takes for granted with some flags; empty where it does not say.
struct Assumed {
  CpuFeatures features;  // the instruction sets that it may use: those of -march, -m... and its own
  std::vector<std::string> include_dirs;  // searched behind those of the flags, there or not
};
Assumed AssumedBy(const Compiler& compiler, const Flags& flags, const Cache& cache);

// The environment variables that compilers read, as one text for keys.
std::string CompilerEnvironment();

}  // namespace opwright::build

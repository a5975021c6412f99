// SPDX-License-Identifier: Apache-2.0
//
// What the checks look at, gathered once: cache, compilers, the answers of Python.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/file.h"
#include "build/cache.h"
#include "build/toolchain.h"
#include "doctor/python.h"

namespace opwright::doctor {

struct Options;

struct Machine {
  Expected<build::Cache> cache = Error();  // the user's
  std::optional<TempFolder> scratch;  // where the trial build works; none: no folder can be written
  std::unique_ptr<build::Cache> trial_cache;  // in scratch
  Expected<build::Compiler> cxx = Error();
  Expected<build::Compiler> c = Error();
  // The libstdc++.so.6.x.y that the C++ compiler links to, resolved; "" when that is not known.
  std::string cxx_library;
  Python python;
};

Machine LookAtMachine(const Options& options);

// The path with every link followed; "" when there is nothing.
std::string Resolved(const std::string& path);

// Whether the file system of the path forbids to run what lies there: no library loads from it.
bool IsNoExec(const std::string& path);

// Whether the first is of an older libstdc++ than the second, by their names libstdc++.so.6.x.y;
// false when a name does not tell.
bool IsOlderCxxLibrary(const std::string& path, const std::string& than);

}  // namespace opwright::doctor

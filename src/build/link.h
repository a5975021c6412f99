// SPDX-License-Identifier: Apache-2.0
//
// The last step: objects, stub and entry archive become one operator library.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/error.h"
#include "build/cache.h"
#include "build/plan.h"
#include "build/toolchain.h"

namespace opwright::build {

struct LinkJob {
  std::vector<std::string> objects;  // of the units, the stub's last
  std::map<std::string, std::string> sources;  // object -> the user's source
  std::vector<std::string> exports;
  std::string name;  // of the library, for the log
};

// The archive that every operator library carries.
Expected<std::string> EntryArchive();

struct Linked {
  std::string command;
  // What the linker read besides the objects of the job and what the plan names, as it lists it
  // itself: an archive that a linker script names, for one.
  std::vector<std::string> files;
  // Whether the list is whole: not when the linker cannot make one, or links a thin archive, whose
  // members it leaves out.
  bool lists_all = false;
  bool unsteady = false;  // one of them changed while it was linked
};

// Writes output.
Expected<Linked> LinkLibrary(const Cache& cache, const LinkJob& job, const Plan& plan,
                             const Compiler& compiler, const std::string& scratch,
                             const std::string& output);

}  // namespace opwright::build

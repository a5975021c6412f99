// SPDX-License-Identifier: Apache-2.0
//
// The libraries that an operator library brings with it: those that its own search path leads to.
// The system's loader does not look for them where it has an object of the same name, whatever that
// is: a library's copy then needs its own one by another name.
#pragma once

#include <string>
#include <vector>

#include "registry/elf_file.h"
#include "registry/mapped.h"

namespace opwright {

struct Dependency {
  std::string name;  // as the library needs it
  size_t name_at = 0;  // in the library's file; 0 for one that a dependency needs
  std::string path;  // of the file that the search path leads to
  bool by_origin = false;  // a copy of the library elsewhere does not find it
  Mapped mapped;  // what the loader takes for the name without searching
  bool differs = false;  // and that is another content
  std::string alias;  // the name by which a copy needs it; "" for its own
};

// Of the library, then of its dependencies.
std::vector<Dependency> FindDependencies(const ElfFile& elf);

// Gives the dependency a name that no other content of this process has. False where the name
// cannot be changed.
bool GiveAlias(const std::string& library_bytes, Dependency* dependency);

// The library with its dependencies' aliases for their names.
std::string WithAliases(std::string library_bytes, const std::vector<Dependency>& dependencies);

// The words for a dependency that is not taken, because of the one that is. [LD016]
std::string SharedDependency(const std::string& library, const Dependency& dependency);

// Maps a dependency under a path of its own, so that its own $ORIGIN is its folder. It stays. Null
// for one that cannot be mapped: it is left to the library's own loading, which has the words.
void* MapDependency(const Dependency& dependency);

}  // namespace opwright

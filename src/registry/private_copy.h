// SPDX-License-Identifier: Apache-2.0
//
// A library's content in a file of our own folder, where nobody gives its name to another file; and
// the dependencies that the loader found beside the original, which it would not find beside a
// copy.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "registry/elf_file.h"

namespace opwright {

// The files that $ORIGIN leads to from the original: what the loader would take for it, and has not
// taken already.
std::vector<std::string> DependenciesByOrigin(const ElfFile& elf);

// The path of a file that has this content for good. The dependencies' names stand beside it. A
// warning where another folder stands in for the cache.
Expected<std::string> PrivateCopy(const std::string& identity, const std::string& bytes,
                                  const std::vector<std::string>& dependencies,
                                  std::vector<std::string>* warnings);

// Maps the dependencies under their own paths, so that their own $ORIGIN is their folder. They
// stay. One that cannot be mapped is left to the library's own loading, which has the words.
void MapDependencies(const std::vector<std::string>& dependencies);

}  // namespace opwright

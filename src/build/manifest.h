// SPDX-License-Identifier: Apache-2.0
//
// Which headers a source included when it was last compiled. The key of a compilation is known
// before the compiler has run: the source, flags and compiler find the manifest, and the manifest
// the headers whose content completes the key. So it is for a link and the files that it reads.
#pragma once

#include <time.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace opwright::build {

// Paths from a make rule as -MD writes it, in order, the source and standard input left out.
std::vector<std::string> ParseDependencies(std::string_view rule);

// Whether a file may have changed, or have come to its place, since a compilation began.
bool ChangedSince(const timespec& start, const std::string& path);

// What the headers are now: one line each, with their content's hash (a system header with its size
// and time). Empty when one of them is gone.
std::string DescribeHeaders(const std::vector<std::string>& headers);

// Installed by a package manager, libraries too, which sets time and size: hashing hundreds of them
// would cost more than all the rest of a cache hit.
bool IsSystemFile(const std::string& path);

// What a compiler or a linker read, and where else it may find what it asks for.
struct Searched {
  std::vector<std::string> files;
  std::vector<std::string> folders;  // of search
  std::vector<std::string> names;  // that were asked for, and are none of the files
};

// With the folders of the files, where others can be put too.
Searched SearchedFor(std::vector<std::string> files, std::vector<std::string> folders,
                     std::vector<std::string> names = {});

// Files in a folder of search that could be found instead of one of the files, or under one of the
// names. When this changes, a file may be shadowed, or a condition may hold that did not.
using Rivals = std::vector<std::string>;
Rivals FindRivals(const Searched& searched);

class Manifest {
 public:
  // The state of the files of the last compilation, as a part of the key; nothing when there is no
  // manifest at path, or what it says cannot be checked any more.
  static std::optional<std::string> CurrentState(const std::string& path);

  // After a compilation. Returns the state that CurrentState() will give.
  static Expected<std::string> Write(const std::string& path, const Searched& searched,
                                     const Rivals& rivals);
};

}  // namespace opwright::build

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

// Whether a file may have changed since a compilation began.
bool ChangedSince(const timespec& start, const std::string& path);

// What the headers are now: one line each, with their content's hash (a system header with its size
// and time). Empty when one of them is gone.
std::string DescribeHeaders(const std::vector<std::string>& headers);

// Files in a folder of search that an #include of one of the headers could find instead of it. When
// this changes, a header may be shadowed.
std::vector<std::string> Rivals(const std::vector<std::string>& headers,
                                const std::vector<std::string>& folders);

class Manifest {
 public:
  // The state of the headers of the last compilation, as a part of the key; nothing when there is
  // no manifest at path, or what it says cannot be checked any more.
  static std::optional<std::string> CurrentState(const std::string& path);

  // After a compilation. Returns the state that CurrentState() will give.
  static Expected<std::string> Write(const std::string& path,
                                     const std::vector<std::string>& headers,
                                     const std::vector<std::string>& search_folders);
};

}  // namespace opwright::build

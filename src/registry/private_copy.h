// SPDX-License-Identifier: Apache-2.0
//
// A library's content in a file of our own folder, where nobody gives its name to another file; and
// the dependencies that the loader found beside the original, which it would not find beside a
// copy.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "base/file.h"
#include "registry/dependencies.h"

namespace opwright {

struct PrivateFile {
  std::string path;
  FileLock kept;  // until it is mapped: `opwright cache clear` waits
};

// A file that has this content for good, but for its dependencies' aliases. Their names stand
// beside it. A warning where another folder stands in for the cache.
Expected<PrivateFile> PrivateCopy(const std::string& identity, const std::string& bytes,
                                  const std::vector<Dependency>& dependencies,
                                  std::vector<std::string>* warnings);

}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
#include "base/environment.h"

#include <cstdlib>

namespace opwright {

std::string EnvironmentVariable(const char* name) {
  const char* const value = getenv(name);
  return value != nullptr ? value : "";
}

std::string TemporaryFolder() {
  std::string folder = EnvironmentVariable("TMPDIR");
  return folder.empty() ? "/tmp" : folder;
}

}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
#include "base/layout.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

#include "base/file.h"

namespace opwright {

const PackageLayout& Layout() {
  static const PackageLayout* const layout = [] {
    auto* found = new PackageLayout;
    Dl_info info{};
    std::string self = "libopwright.so";
    if (dladdr(reinterpret_cast<const void*>(&Layout), &info) != 0 && info.dli_fname != nullptr)
      self = info.dli_fname;
    // A link to the library does not move the files that lie beside it.
    char resolved[PATH_MAX];
    if (realpath(self.c_str(), resolved) != nullptr) self = resolved;
    found->lib_dir = DirName(AbsolutePath(self));
    const std::string package = DirName(found->lib_dir);
    found->include_dir = JoinPath(package, "include");
    found->cmake_dir = JoinPath(package, "cmake");
    return found;
  }();
  return *layout;
}

}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
#include "base/cache_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/file.h"
#include "base/text.h"

namespace opwright {

std::string CacheFolderPath() {
  if (const char* own = getenv("OPWRIGHT_CACHE"); own != nullptr && *own != '\0')
    return AbsolutePath(own);
  if (const char* xdg = getenv("XDG_CACHE_HOME"); xdg != nullptr && *xdg == '/')
    return JoinPath(xdg, "opwright");
  const char* home = getenv("HOME");
  return JoinPath(home != nullptr && *home == '/' ? home : "/tmp", StrCat(".cache/opwright"));
}

Expected<std::string> CacheFolder(const std::string& below) {
  const std::string root = CacheFolderPath();
  const auto unusable = [&](std::string_view why) {
    return MakeError("CA002", StrCat("the cache folder ", root, " cannot be used: ", why,
                                     "; set OPWRIGHT_CACHE to a folder of your own"));
  };
  if (Status made = MakeFolders(root, 0700); !made.ok()) return unusable(made.error().message);
  struct stat info;
  if (stat(root.c_str(), &info) != 0) return unusable(std::strerror(errno));
  if (info.st_uid != geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return MakeError("CA001", StrCat("the cache folder ", root,
                                     info.st_uid != geteuid() ? " belongs to another user"
                                                              : " can be written by others",
                                     ": libraries from it would be run; chmod 700 it, or set "
                                     "OPWRIGHT_CACHE to a folder of your own"));
  std::string folder = root;
  if (!below.empty()) {
    folder = JoinPath(root, below);
    if (Status made = MakeFolders(folder, 0700); !made.ok()) return unusable(made.error().message);
  }
  if (access(folder.c_str(), W_OK) != 0) return unusable(std::strerror(errno));
  return folder;
}

}  // namespace opwright

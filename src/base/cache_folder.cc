// SPDX-License-Identifier: Apache-2.0
#include "base/cache_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

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

namespace {

// An error without id when one cannot be made or written.
Status MakeBelow(const std::string& root, std::span<const char* const> below) {
  for (const char* name : below) {
    const std::string folder = JoinPath(root, name);
    OPWRIGHT_RETURN_IF_ERROR(MakeFolders(folder, 0700));
    if (access(folder.c_str(), W_OK | X_OK) != 0)
      return MakeError("", StrCat("cannot write ", folder, ": ", std::strerror(errno)));
  }
  return {};
}

// CA001 when the folder is not safe, an error without id when it cannot be used.
Status MakeRoot(const std::string& root) {
  OPWRIGHT_RETURN_IF_ERROR(MakeFolders(root, 0700));
  struct stat info;
  if (stat(root.c_str(), &info) != 0) return MakeError("", std::strerror(errno));
  if (info.st_uid != geteuid() || (info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return MakeError("CA001", StrCat("the cache folder ", root,
                                     info.st_uid != geteuid() ? " belongs to another user"
                                                              : " can be written by others",
                                     ": libraries from it would be run; chmod 700 it, or set "
                                     "OPWRIGHT_CACHE to a folder of your own"));
  return {};
}

// Below the temporary folder, where anybody can make names: it must be a folder, ours, and closed.
Status MakeFallback(const std::string& root) {
  OPWRIGHT_RETURN_IF_ERROR(MakeFolders(root, 0700));
  struct stat info;
  if (lstat(root.c_str(), &info) != 0 || !S_ISDIR(info.st_mode) || info.st_uid != geteuid() ||
      (info.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return MakeError("", StrCat(root, " is not a folder that only this user can write"));
  return {};
}

}  // namespace

Expected<UsableCache> OpenCacheFolder(std::span<const char* const> below) {
  UsableCache cache{CacheFolderPath(), {}};
  Status made = MakeRoot(cache.root);
  if (!made.ok() && made.error().id == "CA001") return made.TakeError();
  if (made.ok()) made = MakeBelow(cache.root, below);
  if (made.ok()) return cache;
  cache.reason = StrCat("the cache folder ", cache.root, " cannot be used: ", made.error().message);
  const char* temporary = getenv("TMPDIR");
  cache.root = JoinPath(temporary != nullptr && *temporary != '\0' ? temporary : "/tmp",
                        StrCat("opwright-cache-", geteuid()));
  made = MakeFallback(cache.root);
  if (made.ok()) made = MakeBelow(cache.root, below);
  if (made.ok()) return cache;
  return MakeError("CA002", StrCat(cache.reason, "; and ", made.error().message,
                                   "; set OPWRIGHT_CACHE to a folder of your own"));
}

Expected<std::string> CacheFolder(const std::string& below) {
  const char* const name = below.c_str();
  Expected<UsableCache> cache = OpenCacheFolder({&name, 1});
  if (!cache.ok()) return cache.TakeError();
  return JoinPath(cache->root, below);
}

Expected<FileLock> LockEntries(const std::string& root, FileLock::Kind kind) {
  const std::string folder = JoinPath(root, "lock");
  if (Status made = MakeFolders(folder, 0700); !made.ok()) return WithId(made.TakeError(), "CA003");
  Expected<FileLock> lock = FileLock::Acquire(JoinPath(folder, "entries"), kind);
  if (!lock.ok()) return WithId(lock.TakeError(), "CA003");
  return lock;
}

}  // namespace opwright

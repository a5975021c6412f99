// SPDX-License-Identifier: Apache-2.0
#include "base/cache_folder.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/environment.h"
#include "base/text.h"

namespace opwright {
namespace {

std::string FallbackPath() {
  return JoinPath(TemporaryFolder(), StrCat("opwright-cache-", geteuid()));
}

}  // namespace

std::string CacheFolderPath() {
  if (const std::string own = EnvironmentVariable("OPWRIGHT_CACHE"); !own.empty())
    return AbsolutePath(own);
  if (const std::string xdg = EnvironmentVariable("XDG_CACHE_HOME"); xdg.starts_with('/'))
    return JoinPath(xdg, "opwright");
  if (const std::string home = EnvironmentVariable("HOME"); home.starts_with('/'))
    return JoinPath(home, ".cache/opwright");
  return FallbackPath();
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

std::string UsableCache::Consequence() const { return StrCat(root, " is used instead"); }

Expected<UsableCache> OpenCacheFolder(std::span<const char* const> below) {
  UsableCache cache{CacheFolderPath(), {}};
  Status made;
  if (cache.root != FallbackPath()) {
    made = MakeRoot(cache.root);
    if (!made.ok() && made.error().id == "CA001") return made.TakeError();
    if (made.ok()) made = MakeBelow(cache.root, below);
    if (made.ok()) return cache;
    cache.reason =
        StrCat("the cache folder ", cache.root, " cannot be used: ", made.error().message);
    cache.root = FallbackPath();
  }
  made = MakeFallback(cache.root);
  if (made.ok()) made = MakeBelow(cache.root, below);
  if (made.ok()) return cache;
  return MakeError("CA002",
                   StrCat(cache.reason, cache.reason.empty() ? "" : "; and ", made.error().message,
                          "; set OPWRIGHT_CACHE to a folder of your own"));
}

Expected<std::string> CacheFolder(const std::string& below) {
  const char* const name = below.c_str();
  Expected<UsableCache> cache = OpenCacheFolder({&name, 1});
  if (!cache.ok()) return cache.TakeError();
  return JoinPath(cache->root, below);
}

Expected<FileLock> LockCache(const std::string& root, std::string_view name, FileLock::Kind kind) {
  const std::string folder = JoinPath(root, "lock");
  if (Status made = MakeFolders(folder, 0700); !made.ok()) return WithId(made.TakeError(), "CA003");
  Expected<FileLock> lock = FileLock::Acquire(JoinPath(folder, name), kind);
  if (!lock.ok()) return WithId(lock.TakeError(), "CA003");
  return lock;
}

}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
#include "registry/private_copy.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/cache_folder.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"

namespace opwright {
namespace {

constexpr const char* kBelow = "loaded";

// Below it, a folder for one content with these dependencies: a copy elsewhere may have others.
std::string FolderFor(const std::string& identity, const std::vector<Dependency>& dependencies) {
  if (dependencies.empty()) return kBelow;
  Sha256 hash;
  for (const Dependency& one : dependencies) hash.Field(one.path).Field(one.alias);
  return StrCat(kBelow, "/", identity, "-", hash.Hex().substr(0, 8));
}

}  // namespace

Expected<PrivateFile> PrivateCopy(const std::string& identity, const std::string& bytes,
                                  const std::vector<Dependency>& dependencies,
                                  std::vector<std::string>* warnings) {
  Expected<UsableCache> cache = OpenCacheFolder({&kBelow, 1});
  if (!cache.ok()) return cache.TakeError();
  if (!cache->reason.empty())
    warnings->push_back(StrCat(cache->reason, "; ", cache->Consequence(), " [CA004]"));
  Expected<FileLock> kept = LockEntries(cache->root, FileLock::Kind::kShared);
  if (!kept.ok()) return kept.TakeError();
  const std::string folder = JoinPath(cache->root, FolderFor(identity, dependencies));
  if (Status made = MakeFolders(folder, 0700); !made.ok()) return WithId(made.TakeError(), "CA002");
  // A dependency without a soname is known to the loader by the name of its file alone: the link
  // leads it to the object that is mapped.
  for (const Dependency& one : dependencies) {
    const std::string link = JoinPath(folder, one.alias.empty() ? one.name : one.alias);
    if (symlink(one.path.c_str(), link.c_str()) != 0 && errno != EEXIST)
      return MakeError("CA002", StrCat("cannot make ", link, ": ", std::strerror(errno)));
  }
  PrivateFile copy{JoinPath(folder, StrCat(identity, ".so")), std::move(*kept)};
  const std::string content = WithAliases(bytes, dependencies);
  if (Expected<std::string> old = ReadFile(copy.path); old.ok() && *old == content) return copy;
  if (Status written = WriteFileAtomic(copy.path, content, 0600); !written.ok())
    return WithId(written.TakeError(), "CA002");
  return copy;
}

}  // namespace opwright

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

// A folder for one content with these dependencies: a copy elsewhere may have others.
Expected<std::string> FolderFor(const std::string& identity,
                                const std::vector<Dependency>& dependencies,
                                std::vector<std::string>* warnings) {
  std::string below = "loaded";
  if (!dependencies.empty()) {
    Sha256 hash;
    for (const Dependency& one : dependencies) hash.Field(one.path).Field(one.alias);
    below += StrCat("/", identity, "-", hash.Hex().substr(0, 8));
  }
  const char* const wanted = below.c_str();
  Expected<UsableCache> cache = OpenCacheFolder({&wanted, 1});
  if (!cache.ok()) return cache.TakeError();
  if (!cache->reason.empty())
    warnings->push_back(StrCat(cache->reason, "; ", cache->root, " is used instead [CA004]"));
  return JoinPath(cache->root, below);
}

}  // namespace

Expected<std::string> PrivateCopy(const std::string& identity, const std::string& bytes,
                                  const std::vector<Dependency>& dependencies,
                                  std::vector<std::string>* warnings) {
  Expected<std::string> folder = FolderFor(identity, dependencies, warnings);
  if (!folder.ok()) return folder.TakeError();
  // A dependency without a soname is known to the loader by the name of its file alone: the link
  // leads it to the object that is mapped.
  for (const Dependency& one : dependencies) {
    const std::string link = JoinPath(*folder, one.alias.empty() ? one.name : one.alias);
    if (symlink(one.path.c_str(), link.c_str()) != 0 && errno != EEXIST)
      return MakeError("CA002", StrCat("cannot make ", link, ": ", std::strerror(errno)));
  }
  std::string copy = JoinPath(*folder, StrCat(identity, ".so"));
  const std::string content = WithAliases(bytes, dependencies);
  if (Expected<std::string> kept = ReadFile(copy); kept.ok() && *kept == content) return copy;
  if (Status written = WriteFileAtomic(copy, content, 0600); !written.ok())
    return WithId(written.TakeError(), "CA002");
  return copy;
}

}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
#include "registry/private_copy.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/cache_folder.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"

namespace opwright {
namespace {

// Whether the process has an object of this name: the loader then looks no further.
bool IsMapped(const std::string& name) {
  void* const handle = dlopen(name.c_str(), RTLD_NOLOAD | RTLD_LAZY);
  if (handle != nullptr) dlclose(handle);
  return handle != nullptr;
}

bool IsIn(const std::string& folders, const std::string& name) {
  for (const std::string& folder : Split(folders, ':'))
    if (!folder.empty() && FileExists(JoinPath(folder, name))) return true;
  return false;
}

// A folder for one content with these dependencies: a copy elsewhere may have others.
Expected<std::string> FolderFor(const std::string& identity,
                                const std::vector<std::string>& dependencies,
                                std::vector<std::string>* warnings) {
  std::string below = "loaded";
  if (!dependencies.empty()) {
    Sha256 hash;
    for (const std::string& path : dependencies) hash.Field(path);
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

std::vector<std::string> DependenciesByOrigin(const ElfFile& elf) {
  const char* const first = getenv("LD_LIBRARY_PATH");  // goes before RUNPATH
  std::vector<std::string> found;
  for (const std::string& name : elf.needed) {
    if (name.find('/') != name.npos || IsMapped(name) || IsIn(first == nullptr ? "" : first, name))
      continue;
    for (const std::string& folder : elf.origin_path) {
      std::string path = JoinPath(folder, name);
      if (!FileExists(path)) continue;
      found.push_back(std::move(path));
      break;
    }
  }
  return found;
}

Expected<std::string> PrivateCopy(const std::string& identity, const std::string& bytes,
                                  const std::vector<std::string>& dependencies,
                                  std::vector<std::string>* warnings) {
  Expected<std::string> folder = FolderFor(identity, dependencies, warnings);
  if (!folder.ok()) return folder.TakeError();
  // A dependency without a soname is known to the loader by the name of its file alone: the link
  // leads it to the object that is mapped.
  for (const std::string& path : dependencies) {
    const std::string link = JoinPath(*folder, BaseName(path));
    if (symlink(path.c_str(), link.c_str()) != 0 && errno != EEXIST)
      return MakeError("CA002", StrCat("cannot make ", link, ": ", std::strerror(errno)));
  }
  std::string copy = JoinPath(*folder, StrCat(identity, ".so"));
  Expected<std::string> kept = Sha256OfFile(copy);
  if (kept.ok() && *kept == identity) return copy;
  if (Status written = WriteFileAtomic(copy, bytes, 0600); !written.ok())
    return WithId(written.TakeError(), "CA002");
  return copy;
}

void MapDependencies(const std::vector<std::string>& dependencies) {
  for (const std::string& path : dependencies)
    if (dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL) == nullptr) (void)dlerror();
}

}  // namespace opwright

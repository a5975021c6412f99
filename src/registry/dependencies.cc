// SPDX-License-Identifier: Apache-2.0
#include "registry/dependencies.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>

#include "base/environment.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "registry/mapped.h"

namespace opwright {
namespace {

// A process has one of these, wherever a search path leads.
bool IsRuntime(const std::string& name) {
  for (const char* start : {"libc.so.", "libm.so.", "libdl.so.", "librt.so.", "libpthread.so.",
                            "libgcc_s.so.", "libstdc++.so.", "ld-linux"})
    if (name.starts_with(start)) return true;
  return false;
}

// The part of a name that may be anything else: what follows may be the end of other names too.
size_t FreeLength(const std::string& name) { return std::min(name.find(".so"), name.size()); }

// As many letters and digits as are asked for.
std::string NameOf(const std::string& seed, size_t length) {
  const std::string digest = Sha256().Field(seed).Hex();
  std::string name;
  for (size_t i = 0; i < length; ++i) name += digest[i % digest.size()];
  name[0] = 'o';  // so that it is no number to anyone
  return name;
}

// Those that the file itself names.
std::vector<Dependency> OfFile(const ElfFile& elf) {
  // Goes before RUNPATH.
  std::vector<std::string> folders = Split(EnvironmentVariable("LD_LIBRARY_PATH"), ':');
  folders.insert(folders.end(), elf.search_path.begin(), elf.search_path.end());
  std::vector<Dependency> found;
  for (size_t i = 0; i < elf.needed.size(); ++i) {
    const std::string& name = elf.needed[i];
    if (name.find('/') != name.npos || IsRuntime(name)) continue;
    for (const std::string& folder : folders) {
      std::string path = JoinPath(folder, name);
      if (folder.empty() || !FileExists(path)) continue;
      Dependency dependency;
      dependency.name = name;
      dependency.name_at = elf.needed_at[i];
      dependency.path = std::move(path);
      dependency.by_origin = std::find(elf.origin_path.begin(), elf.origin_path.end(), folder) !=
                             elf.origin_path.end();
      dependency.mapped = MappedAs(name);
      dependency.differs =
          dependency.mapped != nullptr && !IsContentOf(dependency.mapped.get(), dependency.path);
      found.push_back(std::move(dependency));
      break;
    }
  }
  return found;
}

}  // namespace

std::vector<Dependency> FindDependencies(const ElfFile& elf) {
  std::vector<Dependency> found = OfFile(elf);
  for (size_t i = 0; i < found.size(); ++i) {  // which grows
    for (Dependency& further : OfFile(ReadNeeded(found[i].path))) {
      if (std::any_of(found.begin(), found.end(),
                      [&](const Dependency& one) { return one.name == further.name; }))
        continue;
      further.name_at = 0;
      further.by_origin = false;
      found.push_back(std::move(further));
    }
  }
  return found;
}

bool GiveAlias(const std::string& library_bytes, Dependency* dependency) {
  const std::string& name = dependency->name;
  const size_t at = dependency->name_at;
  const size_t free = FreeLength(name);
  // The end of another name in the table of strings is not ours to change.
  constexpr size_t kFewest = 4;
  if (free < kFewest || at == 0 || library_bytes[at - 1] != '\0') return false;
  Expected<std::string> content = Sha256OfFile(dependency->path);
  if (!content.ok()) return false;
  constexpr int kTries = 16;
  for (int i = 0; i < kTries; ++i) {
    std::string alias = NameOf(StrCat(*content, dependency->path, i), free) + name.substr(free);
    const Mapped mapped = MappedAs(alias);
    if (mapped != nullptr && !IsContentOf(mapped.get(), dependency->path)) continue;
    dependency->alias = std::move(alias);
    return true;
  }
  return false;
}

std::string WithAliases(std::string library_bytes, const std::vector<Dependency>& dependencies) {
  for (const Dependency& dependency : dependencies)
    library_bytes.replace(dependency.name_at, dependency.alias.size(), dependency.alias);
  return library_bytes;
}

std::string SharedDependency(const std::string& library, const Dependency& dependency) {
  return StrCat(library, " brings ", dependency.path, ", and the code of ",
                MappedPath(dependency.mapped.get()),
                ", as it was when it was mapped, runs in its place: ",
                "the process has one object of the name ", dependency.name,
                "; give one of them another name, or start a new process [LD016]");
}

void* MapDependency(const Dependency& dependency) {
  // A path under which the process has other content, as it was before a rebuild, is spelled
  // otherwise: the loader compares the letters first.
  std::string folder = DirName(dependency.path);
  const std::string name = BaseName(dependency.path);
  std::string path = JoinPath(folder, name);
  for (Mapped mapped = MappedAs(path);
       mapped != nullptr && !IsContentOf(mapped.get(), dependency.path); mapped = MappedAs(path)) {
    folder += "/.";
    path = StrCat(folder, "/", name);
  }
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) (void)dlerror();
  return handle;
}

}  // namespace opwright

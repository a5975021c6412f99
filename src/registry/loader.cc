// SPDX-License-Identifier: Apache-2.0
#include "registry/loader.h"

#include <dlfcn.h>
#include <xmmintrin.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "base/cache_folder.h"
#include "base/environment.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "registry/dependencies.h"
#include "registry/mapped.h"
#include "registry/precheck.h"
#include "registry/private_copy.h"

namespace opwright {
namespace {

// A library, and its dependencies as they are mapped.
struct Loaded {
  std::shared_ptr<Library> library;
  std::vector<Dependency> dependencies;
};

struct Process {
  std::mutex mutex;
  std::unordered_map<std::string, Loaded> by_identity;
  std::vector<std::shared_ptr<Library>> in_order;
  std::unordered_set<void*> opened;  // handles; they stay
  std::unordered_set<void*> brought;  // dependencies that came with them
};

// Never freed: a thread may still be inside a call when the process ends.
Process& TheProcess() {
  static Process* const process = new Process;
  return *process;
}

// What was read of a library's file.
struct Content {
  std::string path;
  std::string bytes;
  uint64_t inode = 0;
  std::string identity;
};

// Whether what is mapped is the content that was read, from the same file: a build id does not tell
// what was done to a file after its link.
bool IsMappedFrom(void* handle, const Content& content, const ElfFile& elf) {
  return content.inode != 0 && MappedInode(handle) == content.inode &&
         IsContent(handle, elf.build_id, content.bytes);
}

bool StillHolds(const Content& content) {
  Expected<std::string> identity = Sha256OfFile(content.path);
  return identity.ok() && *identity == content.identity;
}

// What the loader would answer with for the given path without looking at the file.
enum class Known { kNothing, kThisContent, kOther };

Known KnownAs(const Content& content, const ElfFile& elf) {
  const Mapped mapped = MappedAs(content.path);
  if (mapped == nullptr) return Known::kNothing;
  // One that this process has opened here has another identity, or it would have been found by it.
  const bool ours = TheProcess().opened.count(mapped.get()) > 0;
  const bool same = !ours && IsMappedFrom(mapped.get(), content, elf);
  return same ? Known::kThisContent : Known::kOther;
}

// Maps a file, with the thread's floating-point modes as they were: a library linked with
// -ffast-math turns on flush-to-zero for the thread that loads it.
Expected<void*> Map(const std::string& path, const std::vector<Dependency>& dependencies,
                    const ElfFile& elf, std::vector<std::string>* warnings) {
  const unsigned modes = _mm_getcsr();
  // They stay, whether the library can be mapped or not.
  for (const Dependency& dependency : dependencies)
    if (void* const mapped = MapDependency(dependency); mapped != nullptr)
      TheProcess().brought.insert(mapped);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char* message = handle == nullptr ? dlerror() : nullptr;
  if ((_mm_getcsr() & ~_MM_EXCEPT_MASK) != (modes & ~_MM_EXCEPT_MASK)) {
    _mm_setcsr(modes);
    warnings->push_back(StrCat(
        path,
        " changed the thread's floating-point modes (it is linked with -ffast-math); they were "
        "put back; link without it [LD014]"));
  }
  if (handle == nullptr)
    return ExplainLoadFailure(path, elf, message != nullptr ? message : "unknown reason");
  TheProcess().opened.insert(handle);
  return handle;
}

// What the library brings and would not get: another library brought its own under the same name,
// and a copy of this one is given its own by an alias. What the process brought itself, a
// framework's library for one, is not there twice.
std::vector<Dependency> JudgeDependencies(const Content& content, const ElfFile& elf, bool may_copy,
                                          std::vector<std::string>* warnings) {
  std::vector<Dependency> dependencies = FindDependencies(elf);
  for (Dependency& dependency : dependencies) {
    const bool brought = TheProcess().brought.count(dependency.mapped.get()) > 0;
    if (dependency.differs && !(may_copy && brought && GiveAlias(content.bytes, &dependency)))
      warnings->push_back(SharedDependency(content.path, dependency));
  }
  return dependencies;
}

// After the load.
void NoteMapped(std::vector<Dependency>* dependencies) {
  for (Dependency& dependency : *dependencies) {
    if (dependency.mapped != nullptr && dependency.alias.empty()) continue;
    dependency.mapped = MappedAs(dependency.alias.empty() ? dependency.name : dependency.alias);
    if (dependency.mapped != nullptr) TheProcess().brought.insert(dependency.mapped.get());
  }
}

// The library is mapped, with dependencies that may have been others then, or beside another copy.
Status WarnOfOthers(const Loaded& loaded, const Content& content) {
  if (loaded.dependencies.empty()) return {};
  Expected<ElfFile> elf = ReadElf(content.path, content.bytes);
  if (!elf.ok()) return elf.TakeError();
  for (Dependency& now : FindDependencies(*elf))
    for (const Dependency& then : loaded.dependencies) {
      if (then.name != now.name || then.mapped == nullptr ||
          IsContentOf(then.mapped.get(), now.path))
        continue;
      now.mapped = then.mapped;
      loaded.library->Warn(SharedDependency(content.path, now));
    }
  return {};
}

// Maps the content that was read and judged. A file that is pinned is never opened by a name that
// others can give to another file.
Expected<const OpwrightLibrary*> MapContent(const Content& content, const ElfFile& elf, bool pinned,
                                            std::vector<Dependency>* dependencies,
                                            std::vector<std::string>* warnings) {
  std::string path = content.path;
  Expected<void*> handle(static_cast<void*>(nullptr));
  // A framework that has opened it already has its operators from there.
  const Known known = KnownAs(content, elf);
  const bool may_copy = pinned || known != Known::kThisContent;
  *dependencies = JudgeDependencies(content, elf, may_copy, warnings);
  const bool as_it_is = std::all_of(dependencies->begin(), dependencies->end(),
                                    [](const Dependency& one) { return one.alias.empty(); });
  bool by_name = as_it_is && !pinned && known != Known::kOther;
  std::vector<std::string> map_warnings;
  if (by_name) {
    handle = Map(path, {}, elf, &map_warnings);
    // Another file may have got this name since it was read.
    by_name = handle.ok() ? IsMappedFrom(*handle, content, elf) : StillHolds(content);
  }
  if (!by_name) {
    std::vector<Dependency> to_map = *dependencies;
    std::erase_if(to_map, [](const Dependency& one) {
      return one.alias.empty() && (one.mapped != nullptr || !one.by_origin);
    });
    map_warnings.clear();
    Expected<PrivateFile> copy =
        PrivateCopy(content.identity, content.bytes, to_map, &map_warnings);
    if (!copy.ok()) return copy.TakeError();
    path = copy->path;
    handle = Map(path, to_map, elf, &map_warnings);
  }
  if (!handle.ok()) {
    Error error = handle.TakeError();
    // What it lacks may be what another's dependency does not have.
    for (const std::string& shared : *warnings) error.message += StrCat("; ", shared);
    return error;
  }
  warnings->insert(warnings->end(), map_warnings.begin(), map_warnings.end());
  if (!elf.unique_symbols.empty())
    warnings->push_back(StrCat(
        path, " has unique symbols (", elf.unique_symbols[0],
        "): after a rebuild its old data may live on; compile with -fno-gnu-unique [LD015]"));
  const auto* raw = static_cast<const OpwrightLibrary*>(dlsym(*handle, OPWRIGHT_LIBRARY_SYMBOL));
  NoteMapped(dependencies);
  // The last field of version 1.0: what came after it is asked for where it is read.
  if (raw == nullptr || !OPWRIGHT_HAS(OpwrightLibrary, raw, frameworks))
    return MakeError("LD009",
                     StrCat(content.path,
                            ": its library struct is smaller than this process needs; build it "
                            "again"));
  return raw;
}

bool IsSha256(std::string_view text) {
  constexpr size_t kDigits = 64;
  return text.size() == kDigits && text.find_first_not_of("0123456789abcdefABCDEF") == text.npos;
}

Expected<Content> ReadLibraryFile(const std::string& path) {
  if (IsDirectory(path))
    return MakeError("LD002",
                     StrCat(path, " is a directory; give the .so file, or build the folder first"));
  Content content;
  content.path = path;
  Expected<std::string> bytes = ReadFile(path, &content.inode);
  if (!bytes.ok()) return WithId(bytes.TakeError(), "LD001");
  content.bytes = std::move(*bytes);
  content.identity = Sha256Hex(content.bytes);
  return content;
}

}  // namespace

Expected<std::string> ResolveLibraryPath(const std::string& path) {
  if (path.empty())
    return MakeError("LD001", "the path is empty; give a library or an operator folder");
  const std::string absolute = AbsolutePath(path);
  if (FileExists(absolute)) return absolute;
  std::vector<std::string> looked = {absolute};
  if (!path.empty() && path.find('/') == std::string::npos) {
    for (const std::string& folder : Split(EnvironmentVariable("OPWRIGHT_PATH"), ':')) {
      if (folder.empty()) continue;
      looked.push_back(AbsolutePath(JoinPath(folder, path)));
      if (FileExists(looked.back())) return looked.back();
    }
  }
  std::string message = DescribeMissing(path, "load", ENOENT);
  if (looked.size() > 1) message += StrCat("; looked at ", Join(looked, ", "));
  if (absolute.starts_with(CacheFolderPath() + "/"))
    message +=
        "; it was built into the cache, which has been emptied since: build its folder again, and "
        "with -o into a place of its own where its path is kept, as by a saved module";
  return MakeError("LD001", message);
}

Expected<LibraryHandle> LoadLibrary(const std::string& path,
                                    const std::optional<std::string>& sha256) {
  // Text that can be no pin would else be taken for none, or for another file's.
  if (sha256.has_value() && !IsSha256(*sha256))
    return MakeError("LD012", StrCat(JsonQuote(*sha256), ", the SHA-256 that ", path,
                                     " must have, is none: expected 64 hex digits"));
  Expected<std::string> resolved = ResolveLibraryPath(path);
  if (!resolved.ok()) return resolved.TakeError();
  Expected<Content> content = ReadLibraryFile(*resolved);
  if (!content.ok()) return content.TakeError();
  const std::string& identity = content->identity;
  if (sha256.has_value() && *sha256 != identity)
    return MakeError("LD012", StrCat(*resolved, " has SHA-256 ", identity, ", ", *sha256,
                                     " was asked for: it is not the file that was pinned"));

  Process& process = TheProcess();
  const std::lock_guard lock(process.mutex);
  if (const auto found = process.by_identity.find(identity); found != process.by_identity.end()) {
    OPWRIGHT_RETURN_IF_ERROR(WarnOfOthers(found->second, *content));
    return LibraryHandle(found->second.library);
  }

  Expected<ElfFile> elf = ReadElf(*resolved, content->bytes);
  if (!elf.ok()) return elf.TakeError();
  OPWRIGHT_RETURN_IF_ERROR(CheckElf(*resolved, *elf));
  std::vector<std::string> warnings;
  std::vector<Dependency> dependencies;
  Expected<const OpwrightLibrary*> raw =
      MapContent(*content, *elf, sha256.has_value(), &dependencies, &warnings);
  if (!raw.ok()) return raw.TakeError();
  auto library = std::make_shared<Library>(*resolved, identity, *raw);
  for (std::string& warning : warnings) library->Warn(std::move(warning));
  process.by_identity.emplace(identity, Loaded{library, std::move(dependencies)});
  process.in_order.push_back(library);
  return LibraryHandle(library);
}

std::vector<std::shared_ptr<Library>> LoadedLibraries() {
  Process& process = TheProcess();
  const std::lock_guard lock(process.mutex);
  std::vector<std::shared_ptr<Library>> open;
  for (const auto& library : process.in_order)
    if (library->is_open()) open.push_back(library);
  return open;
}

}  // namespace opwright

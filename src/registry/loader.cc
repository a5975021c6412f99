// SPDX-License-Identifier: Apache-2.0
#include "registry/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <cerrno>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "registry/precheck.h"
#include "registry/private_copy.h"

namespace opwright {
namespace {

struct Process {
  std::mutex mutex;
  std::unordered_map<std::string, std::shared_ptr<Library>> by_identity;
  std::vector<std::shared_ptr<Library>> in_order;
  std::unordered_set<void*> opened;  // handles; they stay
};

// Never freed: a thread may still be inside a call when the process ends.
Process& TheProcess() {
  static Process* const process = new Process;
  return *process;
}

struct BuildIdSearch {
  const ElfW(Addr) base;
  std::string id;
};

// The build id of the object mapped at a base address.
std::string MappedBuildId(void* handle) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return "";
  BuildIdSearch search{map->l_addr, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* wanted = static_cast<BuildIdSearch*>(data);
        if (info->dlpi_addr != wanted->base) return 0;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr) & segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_NOTE) continue;
          const auto* at = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
          const char* const end = at + segment.p_memsz;
          while (at + sizeof(ElfW(Nhdr)) <= end) {
            const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
            const char* name = at + sizeof *note;
            const char* desc = name + (note->n_namesz + 3) / 4 * 4;
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
                memcmp(name, "GNU", 4) == 0) {
              wanted->id += HexOf({desc, note->n_descsz});
              return 1;
            }
            at = desc + (note->n_descsz + 3) / 4 * 4;
          }
        }
        return 1;
      },
      &search);
  return search.id;
}

// The number of the file that the object at an address is mapped from, 0 when it is not known. The
// mapping itself is asked: its path may name another file by now. Devices are not compared, since
// some file systems show another one here than to stat.
uint64_t MappedInode(const void* address) {
  // Line by line: what was mapped last stands low, so that few of many libraries are read.
  FILE* const maps = fopen("/proc/self/maps", "re");
  if (maps == nullptr) return 0;
  char line[PATH_MAX + 128];
  uint64_t found = 0;
  while (found == 0 && fgets(line, sizeof line, maps) != nullptr) {
    unsigned long begin = 0;
    unsigned long end = 0;
    unsigned long inode = 0;
    if (sscanf(line, "%lx-%lx %*s %*x %*x:%*x %lu", &begin, &end, &inode) == 3 &&
        reinterpret_cast<uintptr_t>(address) - begin < end - begin)
      found = inode;
  }
  fclose(maps);
  return found;
}

// What was read of a library's file.
struct Content {
  std::string path;
  std::string bytes;
  uint64_t inode = 0;
  std::string identity;
};

// Whether what is mapped can be the content that was read: it comes from the same file, which has
// not been written over.
bool IsMappedFrom(void* handle, const Content& content, const ElfFile& elf) {
  const void* symbol = dlsym(handle, OPWRIGHT_LIBRARY_SYMBOL);
  return symbol != nullptr && content.inode != 0 && MappedInode(symbol) == content.inode &&
         MappedBuildId(handle) == elf.build_id;
}

bool StillHolds(const Content& content) {
  Expected<std::string> identity = Sha256OfFile(content.path);
  return identity.ok() && *identity == content.identity;
}

// Whether the given path can be opened. Not where it is mapped with other content: the loader would
// answer with the old code.
bool CanOpen(const Content& content, const ElfFile& elf) {
  void* mapped = dlopen(content.path.c_str(), RTLD_NOLOAD | RTLD_LAZY);
  if (mapped == nullptr) return true;
  // One that this process has opened here has another identity, or it would have been found by it.
  const bool ours = TheProcess().opened.count(mapped) > 0;
  const bool same = !ours && IsMappedFrom(mapped, content, elf);
  dlclose(mapped);
  return same;
}

// Maps a file, with the thread's floating-point modes as they were: a library linked with
// -ffast-math turns on flush-to-zero for the thread that loads it.
Expected<void*> Map(const std::string& path, const std::vector<std::string>& dependencies,
                    const ElfFile& elf, std::vector<std::string>* warnings) {
  const unsigned modes = _mm_getcsr();
  MapDependencies(dependencies);
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  const char* message = handle == nullptr ? dlerror() : nullptr;
  constexpr unsigned kFlags = 0x3f;  // sticky exception flags, not modes
  if ((_mm_getcsr() & ~kFlags) != (modes & ~kFlags)) {
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

// Maps the content that was read and judged. A file that is pinned is never opened by a name that
// others can give to another file.
Expected<const OpwrightLibrary*> MapContent(const Content& content, const ElfFile& elf, bool pinned,
                                            std::vector<std::string>* warnings) {
  std::string path = content.path;
  Expected<void*> handle(static_cast<void*>(nullptr));
  bool by_name = !pinned && CanOpen(content, elf);
  if (by_name) {
    handle = Map(path, {}, elf, warnings);
    // Another file may have got this name since it was read.
    by_name = handle.ok() ? IsMappedFrom(*handle, content, elf) : StillHolds(content);
  }
  if (!by_name) {
    const std::vector<std::string> dependencies = DependenciesByOrigin(elf);
    std::vector<std::string> copy_warnings;
    Expected<std::string> copy =
        PrivateCopy(content.identity, content.bytes, dependencies, &copy_warnings);
    if (!copy.ok()) return copy.TakeError();
    path = *copy;
    *warnings = copy_warnings;
    handle = Map(path, dependencies, elf, warnings);
  }
  if (!handle.ok()) return handle.TakeError();
  if (!elf.unique_symbols.empty())
    warnings->push_back(StrCat(
        path, " has unique symbols (", elf.unique_symbols[0],
        "): after a rebuild its old data may live on; compile with -fno-gnu-unique [LD015]"));
  const auto* raw = static_cast<const OpwrightLibrary*>(dlsym(*handle, OPWRIGHT_LIBRARY_SYMBOL));
  // The last field of version 1.0: what came after it is asked for where it is read.
  if (raw == nullptr || !OPWRIGHT_HAS(OpwrightLibrary, raw, frameworks))
    return MakeError("LD009",
                     StrCat(content.path,
                            ": its library struct is smaller than this process needs; build it "
                            "again"));
  return raw;
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
  const std::string absolute = AbsolutePath(path);
  if (FileExists(absolute)) return absolute;
  std::vector<std::string> looked = {absolute};
  if (!path.empty() && path.find('/') == std::string::npos) {
    const char* list = getenv("OPWRIGHT_PATH");
    for (const std::string& folder : Split(list == nullptr ? "" : list, ':')) {
      if (folder.empty()) continue;
      looked.push_back(AbsolutePath(JoinPath(folder, path)));
      if (FileExists(looked.back())) return looked.back();
    }
  }
  std::string message = DescribeMissing(path, "load", ENOENT);
  if (looked.size() > 1) message += StrCat("; looked at ", Join(looked, ", "));
  return MakeError("LD001", message);
}

Expected<LibraryHandle> LoadLibrary(const std::string& path, const std::string& sha256) {
  Expected<std::string> resolved = ResolveLibraryPath(path);
  if (!resolved.ok()) return resolved.TakeError();
  Expected<Content> content = ReadLibraryFile(*resolved);
  if (!content.ok()) return content.TakeError();
  const std::string& identity = content->identity;
  if (!sha256.empty() && sha256 != identity)
    return MakeError("LD012", StrCat(*resolved, " has SHA-256 ", identity, ", ", sha256,
                                     " was asked for: it is not the file that was pinned"));

  Process& process = TheProcess();
  const std::lock_guard lock(process.mutex);
  if (const auto found = process.by_identity.find(identity); found != process.by_identity.end())
    return LibraryHandle(found->second);

  Expected<ElfFile> elf = ReadElf(*resolved, content->bytes);
  if (!elf.ok()) return elf.TakeError();
  OPWRIGHT_RETURN_IF_ERROR(CheckElf(*resolved, *elf));
  std::vector<std::string> warnings;
  Expected<const OpwrightLibrary*> raw = MapContent(*content, *elf, !sha256.empty(), &warnings);
  if (!raw.ok()) return raw.TakeError();
  auto library = std::make_shared<Library>(*resolved, identity, *raw);
  library->warnings.insert(library->warnings.begin(), warnings.begin(), warnings.end());
  process.by_identity.emplace(identity, library);
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

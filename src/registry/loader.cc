// SPDX-License-Identifier: Apache-2.0
#include "registry/loader.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <unordered_map>

#include "base/cache_folder.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "registry/precheck.h"

namespace opwright {
namespace {

struct Process {
  std::mutex mutex;
  std::unordered_map<std::string, std::shared_ptr<Library>> by_identity;
  std::vector<std::shared_ptr<Library>> in_order;
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

// The path to open: the given one, unless it is mapped with other content. Then the loader would
// answer with the old code, so a link with the content's own name is opened.
Expected<std::string> PathToOpen(const std::string& path, const std::string& bytes,
                                 const std::string& identity, const ElfFile& elf) {
  void* mapped = dlopen(path.c_str(), RTLD_NOLOAD | RTLD_LAZY);
  if (mapped == nullptr) return path;
  const bool same = !elf.build_id.empty() && MappedBuildId(mapped) == elf.build_id;
  dlclose(mapped);
  if (same) return path;
  Expected<std::string> folder = CacheFolder("loaded");
  if (!folder.ok()) return folder.TakeError();
  const std::string link = JoinPath(*folder, StrCat(identity, ".so"));
  Expected<std::string> kept = Sha256OfFile(link);
  if (kept.ok() && *kept == identity) return link;
  if (Status written = WriteFileAtomic(link, bytes, 0600); !written.ok())
    return WithId(written.TakeError(), "CA002");
  return link;
}

// Maps the file, with the thread's floating-point modes as they were: a library linked with
// -ffast-math turns on flush-to-zero for the thread that loads it.
Expected<const OpwrightLibrary*> Map(const std::string& path, const ElfFile& elf,
                                     std::vector<std::string>* warnings) {
  const unsigned modes = _mm_getcsr();
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
  if (!elf.unique_symbols.empty())
    warnings->push_back(StrCat(
        path, " has unique symbols (", elf.unique_symbols[0],
        "): after a rebuild its old data may live on; compile with -fno-gnu-unique [LD015]"));
  const auto* raw = static_cast<const OpwrightLibrary*>(dlsym(handle, OPWRIGHT_LIBRARY_SYMBOL));
  if (raw == nullptr || raw->struct_size < sizeof(OpwrightLibrary))
    return MakeError(
        "LD009",
        StrCat(path, ": its library struct is smaller than this process needs; build it again"));
  return raw;
}

Expected<std::string> ReadLibraryFile(const std::string& path) {
  if (IsDirectory(path))
    return MakeError("LD002",
                     StrCat(path, " is a directory; give the .so file, or build the folder first"));
  Expected<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return WithId(bytes.TakeError(), "LD001");
  return bytes;
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
  Expected<std::string> bytes = ReadLibraryFile(*resolved);
  if (!bytes.ok()) return bytes.TakeError();
  const std::string identity = Sha256Hex(*bytes);
  if (!sha256.empty() && sha256 != identity)
    return MakeError("LD012", StrCat(*resolved, " has SHA-256 ", identity, ", ", sha256,
                                     " was asked for: it is not the file that was pinned"));

  Process& process = TheProcess();
  const std::lock_guard lock(process.mutex);
  if (const auto found = process.by_identity.find(identity); found != process.by_identity.end())
    return LibraryHandle(found->second);

  Expected<ElfFile> elf = ReadElf(*resolved, *bytes);
  if (!elf.ok()) return elf.TakeError();
  OPWRIGHT_RETURN_IF_ERROR(CheckElf(*resolved, *elf));
  Expected<std::string> to_open = PathToOpen(*resolved, *bytes, identity, *elf);
  if (!to_open.ok()) return to_open.TakeError();
  std::vector<std::string> warnings;
  Expected<const OpwrightLibrary*> raw = Map(*to_open, *elf, &warnings);
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

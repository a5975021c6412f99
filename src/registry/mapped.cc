// SPDX-License-Identifier: Apache-2.0
#include "registry/mapped.h"

#include <dlfcn.h>
#include <link.h>

#include <climits>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/file.h"
#include "base/text.h"

namespace opwright {
namespace {

const link_map* MapOf(void* handle) {
  link_map* map = nullptr;
  return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map : nullptr;
}

// Of a part of a note: parts begin at multiples of four bytes.
size_t PaddedSize(size_t size) { return (size + 3) / 4 * 4; }

// Hex digits, "" when no note has one.
std::string BuildIdIn(std::string_view notes) {
  ElfW(Nhdr) note;
  while (notes.size() >= sizeof note) {
    memcpy(&note, notes.data(), sizeof note);
    const size_t desc = sizeof note + PaddedSize(note.n_namesz);
    const size_t end = desc + PaddedSize(note.n_descsz);
    if (end > notes.size()) break;
    if (note.n_type == NT_GNU_BUILD_ID && notes.substr(sizeof note).starts_with({"GNU\0", 4}))
      return HexOf(notes.substr(desc, note.n_descsz));
    notes.remove_prefix(end);
  }
  return "";
}

// Of a file; without reading all of one that may be large.
std::string FileBuildId(const std::string& path) {
  const std::unique_ptr<FILE, int (*)(FILE*)> file(fopen(path.c_str(), "re"), fclose);
  const auto read = [&](uint64_t at, void* to, size_t size) {
    return fseek(file.get(), static_cast<long>(at), SEEK_SET) == 0 &&
           fread(to, 1, size, file.get()) == size;
  };
  ElfW(Ehdr) header;
  if (file == nullptr || !read(0, &header, sizeof header) ||
      memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
    return "";
  for (int i = 0; i < header.e_phnum; ++i) {
    ElfW(Phdr) segment;
    if (!read(header.e_phoff + i * sizeof segment, &segment, sizeof segment)) return "";
    constexpr size_t kLargest = 1 << 16;
    if (segment.p_type != PT_NOTE || segment.p_filesz > kLargest) continue;
    std::string notes(segment.p_filesz, '\0');
    if (!read(segment.p_offset, notes.data(), notes.size())) return "";
    if (std::string id = BuildIdIn(notes); !id.empty()) return id;
  }
  return "";
}

struct BuildIdSearch {
  const ElfW(Addr) base;
  std::string id;
};

}  // namespace

Mapped MappedAs(const std::string& name) {
  void* const handle = dlopen(name.c_str(), RTLD_NOLOAD | RTLD_LAZY);
  if (handle == nullptr) return nullptr;
  return {handle, dlclose};
}

std::string MappedPath(void* handle) {
  const link_map* const map = MapOf(handle);
  return map != nullptr && map->l_name != nullptr ? map->l_name : "";
}

std::string MappedBuildId(void* handle) {
  const link_map* const map = MapOf(handle);
  if (map == nullptr) return "";
  BuildIdSearch search{map->l_addr, {}};
  dl_iterate_phdr(
      [](dl_phdr_info* info, size_t, void* data) {
        auto* wanted = static_cast<BuildIdSearch*>(data);
        if (info->dlpi_addr != wanted->base) return 0;
        for (int i = 0; i < info->dlpi_phnum && wanted->id.empty(); ++i) {
          const ElfW(Phdr) & segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_NOTE) continue;
          const auto* notes = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
          wanted->id = BuildIdIn({notes, segment.p_memsz});
        }
        return 1;
      },
      &search);
  return search.id;
}

uint64_t MappedInode(void* handle) {
  const link_map* const map = MapOf(handle);
  // Line by line: what was mapped last stands low, so that few of many libraries are read.
  FILE* const maps = map != nullptr ? fopen("/proc/self/maps", "re") : nullptr;
  if (maps == nullptr) return 0;
  char line[PATH_MAX + 128];
  uint64_t found = 0;
  while (found == 0 && fgets(line, sizeof line, maps) != nullptr) {
    unsigned long begin = 0;
    unsigned long end = 0;
    unsigned long inode = 0;
    if (sscanf(line, "%lx-%lx %*s %*x %*x:%*x %lu", &begin, &end, &inode) == 3 &&
        reinterpret_cast<uintptr_t>(map->l_ld) - begin < end - begin)
      found = inode;
  }
  fclose(maps);
  return found;
}

bool IsContent(void* handle, const std::string& build_id, const std::string& bytes) {
  if (MappedBuildId(handle) != build_id) return false;
  if (!build_id.empty()) return true;
  const std::string path = MappedPath(handle);
  uint64_t inode = 0;
  Expected<std::string> mapped = ReadFile(path, &inode);
  return mapped.ok() && inode != 0 && MappedInode(handle) == inode && *mapped == bytes;
}

bool IsContentOf(void* handle, const std::string& path) {
  const std::string build_id = FileBuildId(path);
  Expected<std::string> bytes = build_id.empty() ? ReadFile(path) : std::string();
  return bytes.ok() && IsContent(handle, build_id, *bytes);
}

}  // namespace opwright

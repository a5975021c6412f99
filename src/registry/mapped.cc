// SPDX-License-Identifier: Apache-2.0
#include "registry/mapped.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <climits>
#include <cstdio>
#include <cstring>

#include "base/file.h"
#include "base/text.h"
#include "registry/elf_file.h"

namespace opwright {
namespace {

const link_map* MapOf(void* handle) {
  link_map* map = nullptr;
  return dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0 ? map : nullptr;
}

uint64_t InodeOf(const std::string& path) {
  struct stat info{};
  return stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

// Of a part of a note: parts begin at multiples of four bytes.
size_t PaddedSize(size_t size) { return (size + 3) / 4 * 4; }

struct BuildIdSearch {
  const ElfW(Addr) base;
  std::string id;
};

}  // namespace

void* MappedAs(const std::string& name) { return dlopen(name.c_str(), RTLD_NOLOAD | RTLD_LAZY); }

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
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr) & segment = info->dlpi_phdr[i];
          if (segment.p_type != PT_NOTE) continue;
          const auto* at = reinterpret_cast<const char*>(info->dlpi_addr + segment.p_vaddr);
          const char* const end = at + segment.p_memsz;
          while (at + sizeof(ElfW(Nhdr)) <= end) {
            const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at);
            const char* name = at + sizeof *note;
            const char* desc = name + PaddedSize(note->n_namesz);
            if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
                memcmp(name, "GNU", 4) == 0) {
              wanted->id += HexOf({desc, note->n_descsz});
              return 1;
            }
            at = desc + PaddedSize(note->n_descsz);
          }
        }
        return 1;
      },
      &search);
  return search.id;
}

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

bool IsContentOf(void* handle, const std::string& path) {
  const link_map* const map = MapOf(handle);
  const uint64_t mapped = map != nullptr ? MappedInode(map->l_ld) : 0;
  if (mapped != 0 && mapped == InodeOf(path)) return true;
  Expected<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return false;
  const std::string build_id = MappedBuildId(handle);
  Expected<ElfFile> elf = ReadElf(path, *bytes);
  if (elf.ok() && !(elf->build_id.empty() && build_id.empty())) return elf->build_id == build_id;
  const std::string old_path = MappedPath(handle);
  if (mapped == 0 || mapped != InodeOf(old_path)) return false;
  Expected<std::string> old_bytes = ReadFile(old_path);
  return old_bytes.ok() && *old_bytes == *bytes;
}

}  // namespace opwright

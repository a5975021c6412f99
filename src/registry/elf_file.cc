// SPDX-License-Identifier: Apache-2.0
#include "registry/elf_file.h"

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "base/file.h"
#include "base/text.h"

namespace opwright {
namespace {

struct ElfCloser {
  void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfPointer = std::unique_ptr<Elf, ElfCloser>;

// The dynamic strings that are offsets into the section's string table.
void ReadDynamic(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, const std::string& origin,
                 ElfFile* file) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  GElf_Shdr strings;
  if (gelf_getshdr(elf_getscn(elf, header.sh_link), &strings) == nullptr) return;
  std::vector<std::string> rpath;
  std::vector<std::string> by_origin;
  for (int i = 0; i < static_cast<int>(header.sh_size / header.sh_entsize); ++i) {
    GElf_Dyn dynamic;
    if (gelf_getdyn(data, i, &dynamic) == nullptr || dynamic.d_tag == DT_NULL) break;
    if (dynamic.d_tag != DT_NEEDED && dynamic.d_tag != DT_RUNPATH && dynamic.d_tag != DT_RPATH)
      continue;
    const char* text = elf_strptr(elf, header.sh_link, dynamic.d_un.d_val);
    if (text == nullptr) continue;
    if (dynamic.d_tag == DT_NEEDED) {
      file->needed.emplace_back(text);
      file->needed_at.push_back(strings.sh_offset + dynamic.d_un.d_val);
      continue;
    }
    std::vector<std::string>& paths = dynamic.d_tag == DT_RUNPATH ? file->search_path : rpath;
    for (std::string path : Split(text, ':')) {
      for (const std::string_view token : {"${ORIGIN}", "$ORIGIN"})
        if (const size_t at = path.find(token); at != path.npos) {
          path.replace(at, token.size(), origin);
          by_origin.push_back(path);
        }
      paths.push_back(std::move(path));
    }
  }
  if (file->search_path.empty()) file->search_path = std::move(rpath);
  for (const std::string& path : file->search_path)
    if (std::find(by_origin.begin(), by_origin.end(), path) != by_origin.end())
      file->origin_path.push_back(path);
}

void ReadSymbols(Elf* elf, Elf_Scn* section, const GElf_Shdr& header, ElfFile* file) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || header.sh_entsize == 0) return;
  for (int i = 1; i < static_cast<int>(header.sh_size / header.sh_entsize); ++i) {
    GElf_Sym symbol;
    if (gelf_getsym(data, i, &symbol) == nullptr) break;
    const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
    if (name == nullptr || *name == '\0') continue;
    if (symbol.st_shndx != SHN_UNDEF)
      file->exports.emplace_back(name);
    else if (GELF_ST_BIND(symbol.st_info) != STB_WEAK)
      file->undefined.emplace_back(name);
    if (GELF_ST_BIND(symbol.st_info) == STB_GNU_UNIQUE) file->unique_symbols.emplace_back(name);
  }
}

void ReadNotes(Elf_Scn* section, ElfFile* file) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr) return;
  GElf_Nhdr note;
  size_t name_at = 0;
  size_t desc_at = 0;
  const auto* bytes = static_cast<const char*>(data->d_buf);
  for (size_t offset = 0; (offset = gelf_getnote(data, offset, &note, &name_at, &desc_at)) > 0;) {
    const std::string_view name(bytes + name_at, note.n_namesz > 0 ? note.n_namesz - 1 : 0);
    if (name == "GNU" && note.n_type == NT_GNU_BUILD_ID) {
      file->build_id += HexOf({bytes + desc_at, note.n_descsz});
    } else if (name == OPWRIGHT_NOTE_NAME && note.n_type == OPWRIGHT_NOTE_TYPE) {
      OpwrightNote copy = {};
      const size_t room = sizeof copy - offsetof(OpwrightNote, struct_size);
      memcpy(&copy.struct_size, bytes + desc_at, std::min<size_t>(note.n_descsz, room));
      copy.march[sizeof copy.march - 1] = '\0';
      copy.opwright_version[sizeof copy.opwright_version - 1] = '\0';
      file->note = copy;
    }
  }
}

// Whether all that the headers speak of lies within the file.
bool IsComplete(Elf* elf, const GElf_Ehdr& header, size_t size) {
  for (size_t i = 0; i < header.e_phnum; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) return false;
    if (segment.p_offset > size || segment.p_filesz > size - segment.p_offset) return false;
  }
  const uint64_t table = static_cast<uint64_t>(header.e_shnum) * header.e_shentsize;
  return header.e_shoff <= size && table <= size - header.e_shoff;
}

std::string MachineName(int machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_386:
      return "x86 (32 bit)";
    case EM_AARCH64:
      return "AArch64";
    case EM_ARM:
      return "Arm (32 bit)";
    case EM_RISCV:
      return "RISC-V";
    default:
      return StrCat("machine number ", machine);
  }
}

// For what lies in an operator folder.
std::string HowToBuild(const std::string& path) {
  constexpr std::string_view kSources[] = {".json", ".cpp", ".cc", ".cxx", ".h"};
  for (const std::string_view ending : kSources)
    if (path.ends_with(ending))
      return StrCat("; it is a source: load its folder, ", DirName(path),
                    ", which is built first, or build a library with `opwright build`");
  return "; build a library with `opwright build`";
}

}  // namespace

bool ElfFile::Exports(std::string_view name) const {
  return std::find(exports.begin(), exports.end(), name) != exports.end();
}

Expected<ElfFile> ReadElf(const std::string& path, const std::string& bytes) {
  if (bytes.size() < SELFMAG || memcmp(bytes.data(), ELFMAG, SELFMAG) != 0)
    return MakeError("LD003", StrCat(path, " is not an ELF file",
                                     bytes.empty() ? " (it is empty)" : "", HowToBuild(path)));
  const Error cut = MakeError("LD004", StrCat(path, " is cut short or damaged (", bytes.size(),
                                              " bytes): build or copy it again"));
  elf_version(EV_CURRENT);
  const ElfPointer elf(elf_memory(const_cast<char*>(bytes.data()), bytes.size()));
  GElf_Ehdr header;
  if (elf == nullptr || gelf_getehdr(elf.get(), &header) == nullptr) return cut;
  if (header.e_machine != EM_X86_64 || gelf_getclass(elf.get()) != ELFCLASS64)
    return MakeError("LD005", StrCat(path, " is for ", MachineName(header.e_machine),
                                     ", this process is x86-64; build it here"));
  if (!IsComplete(elf.get(), header, bytes.size())) return cut;
  if (header.e_type != ET_DYN)
    return MakeError("LD006", StrCat(path,
                                     header.e_type == ET_REL ? " is an object file, not linked yet"
                                                             : " is no shared object",
                                     "; link it with `opwright build` or `aoc`"));
  ElfFile file;
  const std::string origin = DirName(AbsolutePath(path));
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr section_header;
    if (gelf_getshdr(section, &section_header) == nullptr) return cut;
    if (section_header.sh_type == SHT_DYNAMIC)
      ReadDynamic(elf.get(), section, section_header, origin, &file);
    if (section_header.sh_type == SHT_DYNSYM)
      ReadSymbols(elf.get(), section, section_header, &file);
    if (section_header.sh_type == SHT_NOTE) ReadNotes(section, &file);
  }
  return file;
}

ElfFile ReadNeeded(const std::string& path) {
  ElfFile file;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return file;
  elf_version(EV_CURRENT);
  ElfPointer elf(elf_begin(fd, ELF_C_READ, nullptr));
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) break;
    if (header.sh_type == SHT_DYNAMIC)
      ReadDynamic(elf.get(), section, header, DirName(AbsolutePath(path)), &file);
  }
  elf.reset();
  close(fd);
  return file;
}

}  // namespace opwright

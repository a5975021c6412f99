// SPDX-License-Identifier: Apache-2.0
#include "build/symbols.h"

#include <fcntl.h>
#include <gelf.h>
#include <unistd.h>

namespace opwright::build {
namespace {

void AddSymbols(Elf* elf, bool defined, std::vector<std::string>* names) {
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr;
       section = elf_nextscn(elf, section)) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_entsize == 0) continue;
    if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) continue;
    Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr) continue;
    const auto count = static_cast<int>(header.sh_size / header.sh_entsize);
    for (int i = 0; i < count; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, i, &symbol) == nullptr) continue;
      if ((symbol.st_shndx != SHN_UNDEF) != defined) continue;
      if (GELF_ST_BIND(symbol.st_info) == STB_LOCAL) continue;
      const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
      if (name != nullptr && *name != '\0') names->emplace_back(name);
    }
  }
}

std::vector<std::string> Symbols(const std::string& path, bool defined) {
  std::vector<std::string> names;
  elf_version(EV_CURRENT);
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return names;
  Elf* file = elf_begin(fd, ELF_C_READ_MMAP, nullptr);
  if (file != nullptr && elf_kind(file) == ELF_K_AR) {
    Elf_Cmd command = ELF_C_READ_MMAP;
    while (Elf* member = elf_begin(fd, command, file)) {
      if (elf_kind(member) == ELF_K_ELF) AddSymbols(member, defined, &names);
      command = elf_next(member);
      elf_end(member);
    }
  } else if (file != nullptr && elf_kind(file) == ELF_K_ELF) {
    AddSymbols(file, defined, &names);
  }
  if (file != nullptr) elf_end(file);
  close(fd);
  return names;
}

}  // namespace

std::vector<std::string> DefinedSymbols(const std::string& path) { return Symbols(path, true); }
std::vector<std::string> UndefinedSymbols(const std::string& path) { return Symbols(path, false); }

std::string FunctionName(const std::string& demangled) {
  // Up to the arguments' parenthesis, outside of template arguments.
  int depth = 0;
  std::string name;
  for (const char c : demangled) {
    if (c == '<') ++depth;
    if (depth == 0) {
      if (c == '(') break;
      if (c == ' ' || c == ':') {
        name.clear();
      } else {
        name += c;
      }
    }
    if (c == '>') --depth;
  }
  return name;
}

}  // namespace opwright::build

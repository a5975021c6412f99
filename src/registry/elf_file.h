// SPDX-License-Identifier: Apache-2.0
//
// What a shared object says of itself, read without mapping it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "opwright/c_api.h"

namespace opwright {

struct ElfFile {
  std::vector<std::string> exports;  // defined dynamic symbols
  std::vector<std::string> undefined;
  std::vector<std::string> needed;
  std::vector<size_t> needed_at;  // where their names stand in the file
  std::vector<std::string> search_path;  // RUNPATH, else RPATH, with $ORIGIN resolved
  std::vector<std::string> origin_path;  // those of search_path that $ORIGIN stood in
  std::vector<std::string> unique_symbols;  // STB_GNU_UNIQUE: they outlive a reload
  std::string build_id;  // hex
  std::optional<OpwrightNote> note;

  bool Exports(std::string_view name) const;
};

// bytes: the whole file. LD003 no ELF file, LD004 cut short, LD005 another machine, LD006 no shared
// object.
Expected<ElfFile> ReadElf(const std::string& path, const std::string& bytes);

// What a shared object needs and where it is searched for, and nothing else: a large file is not
// read for it. Nothing needed where it cannot be read.
ElfFile ReadNeeded(const std::string& path);

}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
//
// Judges a file before it is mapped, and explains why the loader refused it.
#pragma once

#include <string>

#include "base/error.h"
#include "registry/elf_file.h"

namespace opwright {

// LD007 no operator library (and what it is instead), LD009 another ABI, LD011 for a newer
// processor.
Status CheckElf(const std::string& path, const ElfFile& elf);

// The error for a dlopen that failed: LD008 a missing dependency with the folders searched, LD010
// anything else; an undefined symbol is demangled, and another C++ string ABI is named.
Error ExplainLoadFailure(const std::string& path, const ElfFile& elf,
                         const std::string& loader_message);

}  // namespace opwright

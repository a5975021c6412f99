// SPDX-License-Identifier: Apache-2.0
#include "registry/precheck.h"

#include <dlfcn.h>

#include <algorithm>
#include <cctype>
#include <cstring>
#include <iterator>
#include <memory>

#include "base/cpu_features.h"
#include "base/file.h"
#include "base/text.h"

namespace opwright {
namespace {

// What a shared object without an operator library's symbol is, as far as its exports tell.
std::string WhatItIs(const ElfFile& elf) {
  for (const std::string& name : elf.exports) {
    if (name.starts_with("PyInit_")) return StrCat("exports ", name, ": this is a Python module");
    if (name == "RegisterCustomOps")
      return "exports RegisterCustomOps: this is an ONNX Runtime operator library";
    if (name.starts_with("__tvm_ffi_"))
      return StrCat("exports ", name, ": this is a tvm-ffi library");
  }
  if (elf.exports.empty()) return "exports nothing";
  std::vector<std::string> some(
      elf.exports.begin(),
      elf.exports.begin() + static_cast<long>(std::min<size_t>(elf.exports.size(), 5)));
  return StrCat("exports ", Join(some, ", "), elf.exports.size() > some.size() ? ", ..." : "");
}

// The folders that the loader looks in for a dependency of the file, in order.
std::vector<std::string> SearchedFolders(const ElfFile& elf) {
  std::vector<std::string> folders = elf.search_path;
  // As the C library sees them: the program's own RUNPATH is not searched for others' dependencies.
  void* self = dlopen("libc.so.6", RTLD_NOLOAD | RTLD_LAZY);
  Dl_serinfo size;
  if (self == nullptr || dlinfo(self, RTLD_DI_SERINFOSIZE, &size) != 0) return folders;
  const std::unique_ptr<char[]> memory(new char[size.dls_size]);
  auto* info = reinterpret_cast<Dl_serinfo*>(memory.get());
  info->dls_size = size.dls_size;
  info->dls_cnt = size.dls_cnt;
  if (dlinfo(self, RTLD_DI_SERINFO, info) != 0) return folders;
  for (unsigned i = 0; i < info->dls_cnt; ++i) folders.emplace_back(info->dls_serpath[i].dls_name);
  return folders;
}

// Levels stand in the order of their names.
bool ProcessorHas(std::string_view march) {
  return !march.starts_with("x86-64") || march <= ProcessorLevel();
}

// Whether the old ABI's string stands in a demangled name: the new one's is
// std::__cxx11::basic_string.
bool NamesOldString(std::string_view name) {
  constexpr std::string_view kString = "std::string";
  const auto goes_on = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':';
  };
  for (size_t at = name.find(kString); at != name.npos; at = name.find(kString, at + 1)) {
    const size_t end = at + kString.size();
    if ((at == 0 || !goes_on(name[at - 1])) && (end == name.size() || !goes_on(name[end])))
      return true;
  }
  return false;
}

// The first sanitizer of gcc's that the file needs and that this process has not: it has to come
// before the C library, and ends the process where it comes later. One that is there is kept.
std::string_view MissingSanitizer(const ElfFile& elf) {
  for (const std::string& needed : elf.needed)
    for (const std::string_view name : {"libasan.", "libtsan.", "liblsan.", "libhwasan."})
      if (needed.starts_with(name) && dlopen(needed.c_str(), RTLD_NOLOAD | RTLD_LAZY) == nullptr)
        return needed;
  return {};
}

}  // namespace

Status CheckElf(const std::string& path, const ElfFile& elf) {
  if (!elf.Exports(OPWRIGHT_LIBRARY_SYMBOL) || !elf.note.has_value())
    return MakeError("LD007",
                     StrCat(path, ": ELF is right, but it exports no operator entry (expected ",
                            OPWRIGHT_LIBRARY_SYMBOL, "); it ", WhatItIs(elf),
                            "; build the operator with `opwright build`"));
  const OpwrightNote& note = *elf.note;
  const auto abi = [&](std::string_view what, int64_t file, int64_t process) {
    return MakeError("LD009", StrCat(path, ": ", what, " is ", file, " in the file and ", process,
                                     " in this process; it was built by Opwright ",
                                     note.opwright_version, ": build it again"));
  };
  if (note.abi_major != OPWRIGHT_ABI_MAJOR)
    return abi("the ABI's major number", note.abi_major, OPWRIGHT_ABI_MAJOR);
  if (note.abi_minor > OPWRIGHT_ABI_MINOR)
    return abi("the ABI's minor number", note.abi_minor, OPWRIGHT_ABI_MINOR);
  if (note.tensor_size != sizeof(OpwrightTensor))
    return abi("the size of a tensor", note.tensor_size, sizeof(OpwrightTensor));
  if (note.call_size > sizeof(OpwrightCall))
    return abi("the size of a call", note.call_size, sizeof(OpwrightCall));
  if (note.op_def_size > sizeof(OpwrightOpDef))
    return abi("the size of an operator", note.op_def_size, sizeof(OpwrightOpDef));
  CpuFeatures features;
  std::copy(std::begin(note.features), std::end(note.features), features.begin());
  const std::vector<std::string> missing = MissingFeatures(features);
  if (!missing.empty() || !ProcessorHas(note.march))
    return MakeError(
        "LD011", StrCat(path, " is built for ",
                        *note.march != '\0' ? StrCat(note.march, ", which this processor is not")
                                            : "instructions that this processor has not",
                        missing.empty() ? "" : StrCat(": it lacks ", JoinAnd(missing)),
                        "; build it without --march and -m flags, or for this one"));
  if (const std::string_view name = MissingSanitizer(elf); !name.empty())
    return MakeError("LD017",
                     StrCat(path, " is built with a sanitizer: ", name,
                            " would end this process, which did not start with it; build it "
                            "without -fsanitize, or start with LD_PRELOAD=$(gcc -print-file-name=",
                            name, ")"));
  return {};
}

Error ExplainLoadFailure(const std::string& path, const ElfFile& elf,
                         const std::string& loader_message) {
  for (const std::string& needed : elf.needed) {
    const bool blamed = loader_message.starts_with(needed + ":") ||
                        loader_message.find(": " + needed + ":") != std::string::npos;
    if (!blamed || loader_message.find("cannot open shared object file") == std::string::npos)
      continue;
    return MakeError("LD008", StrCat(path, " needs ", needed, ", which is not found; searched: ",
                                     Join(SearchedFolders(elf), ", "),
                                     "; put it there, or build with -Wl,-rpath"));
  }
  constexpr std::string_view kUndefined = "undefined symbol: ";
  if (const size_t at = loader_message.find(kUndefined); at != std::string::npos) {
    std::string symbol = loader_message.substr(at + kUndefined.size());
    symbol = symbol.substr(0, symbol.find_first_of(" ,\n"));
    const std::string name = Demangle(symbol);
    const bool new_abi = symbol.find("__cxx11") != std::string::npos;
    const bool old_abi = !new_abi && NamesOldString(name);
    std::string hint;
    if (new_abi || old_abi)
      hint = StrCat(
          "; it takes a std::string of the C++ ABI with _GLIBCXX_USE_CXX11_ABI=", new_abi ? 1 : 0,
          ", and nothing in this process offers that: compile both sides with one value (this "
          "process has ",
          _GLIBCXX_USE_CXX11_ABI, ")");
    else
      hint = "; link what defines it, or import the framework that does before loading";
    return MakeError("LD010", StrCat(path, ": undefined symbol ", name, hint));
  }
  return MakeError("LD010", StrCat(path, " cannot be loaded: ", loader_message));
}

}  // namespace opwright

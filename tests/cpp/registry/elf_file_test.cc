// SPDX-License-Identifier: Apache-2.0
//
// Files that are not what they should be: cut short, of another machine, of another interface.
// Never a crash.
#include "registry/elf_file.h"

#include <elf.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <random>

#include "base/cpu_features.h"
#include "registry/kernels.h"
#include "registry/precheck.h"

namespace opwright::test {
namespace {

class Doctored : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    path_ = BuildLibrary(ScaleMetadef(), ScaleSource("14"));
    bytes_ = *ReadFile(path_);
  }
  Doctored() : folder_(std::move(*TempFolder::Make())) {}

  std::string ErrorOf(const std::string& bytes) {
    const std::string path = JoinPath(folder_.path(), "doctored.so");
    EXPECT_TRUE(WriteFileAtomic(path, bytes).ok());
    return LoadError(path);
  }
  // The library with one field of its note set.
  template <class T>
  std::string WithNote(size_t offset, T value) {
    std::string bytes = bytes_;
    const std::string name("Opwright\0", 9);
    const size_t at = bytes.find(name);
    EXPECT_NE(at, bytes.npos);
    memcpy(bytes.data() + at - offsetof(OpwrightNote, name) + offset, &value, sizeof value);
    return bytes;
  }
  static std::string path_;
  static std::string bytes_;
  TempFolder folder_;
};
std::string Doctored::path_;
std::string Doctored::bytes_;

TEST_F(Doctored, TheNoteSaysWhatTheLibraryStructSays) {
  const Expected<ElfFile> elf = ReadElf(path_, bytes_);
  ASSERT_TRUE(elf.ok());
  ASSERT_TRUE(elf->note.has_value());
  EXPECT_EQ(elf->note->abi_major, OPWRIGHT_ABI_MAJOR);
  EXPECT_EQ(elf->note->abi_minor, OPWRIGHT_ABI_MINOR);
  EXPECT_EQ(elf->note->tensor_size, sizeof(OpwrightTensor));
  EXPECT_STREQ(elf->note->opwright_version, opwright_version());
  EXPECT_EQ(elf->build_id.size(), 40u);
  const auto library = LoadOrFail(path_);
  EXPECT_EQ(library->raw().abi_major, OPWRIGHT_ABI_MAJOR);
  EXPECT_STREQ(library->raw().opwright_version, opwright_version());
}

TEST_F(Doctored, AnotherMajorNumberIsRefusedWithBoth) {
  const std::string error =
      ErrorOf(WithNote(offsetof(OpwrightNote, abi_major), int32_t{OPWRIGHT_ABI_MAJOR + 1}));
  EXPECT_NE(error.find(StrCat("the ABI's major number is ", OPWRIGHT_ABI_MAJOR + 1,
                              " in the file and ", OPWRIGHT_ABI_MAJOR,
                              " in this process; it was built by Opwright ", opwright_version())),
            error.npos)
      << error;
  EXPECT_TRUE(error.ends_with("[LD009]")) << error;
  EXPECT_NE(ErrorOf(WithNote(offsetof(OpwrightNote, abi_major), int32_t{0})).find("[LD009]"),
            std::string::npos);
}

TEST_F(Doctored, ANewerMinorNumberIsRefused) {
  const std::string error =
      ErrorOf(WithNote(offsetof(OpwrightNote, abi_minor), int32_t{OPWRIGHT_ABI_MINOR + 1}));
  EXPECT_NE(error.find("the ABI's minor number"), error.npos) << error;
}

TEST_F(Doctored, OtherStructSizesAreRefused) {
  EXPECT_NE(ErrorOf(WithNote(offsetof(OpwrightNote, tensor_size), uint32_t{56}))
                .find("the size of a tensor is 56 in the file and 48"),
            std::string::npos);
  EXPECT_NE(ErrorOf(WithNote(offsetof(OpwrightNote, call_size), uint32_t{9999}))
                .find("the size of a call is 9999"),
            std::string::npos);
  EXPECT_NE(ErrorOf(WithNote(offsetof(OpwrightNote, op_def_size), uint32_t{9999}))
                .find("the size of an operator is 9999"),
            std::string::npos);
}

TEST_F(Doctored, ALibraryForAProcessorLevelThatIsMissingIsRefused) {
  struct Level {
    char text[32] = "x86-64-v4";
  };
  if (__builtin_cpu_supports("x86-64-v4")) {
    // This processor has them all: an unknown level must not be taken for a missing one.
    EXPECT_EQ(ErrorOf(WithNote(offsetof(OpwrightNote, march), Level{})), "loaded");
    return;
  }
  const std::string error = ErrorOf(WithNote(offsetof(OpwrightNote, march), Level{}));
  EXPECT_NE(error.find("is built for x86-64-v4, which this processor is not"), error.npos) << error;
}

TEST_F(Doctored, ALibraryForInstructionSetsThatAreMissingIsRefusedWithTheirNames) {
  struct Words {
    CpuFeatures features;
  };
  // No processor has all of them: some are Intel's, some AMD's.
  CpuFeatures wanted = {};
  std::vector<std::string> missing;
  for (const char* macro : {"__AVX512ER__", "__AVX2__", "__XOP__", "__SSE3__"}) {
    const CpuFeatures one = FeaturesOfMacros(StrCat("#define ", macro, " 1\n"));
    for (size_t i = 0; i < one.size(); ++i) wanted[i] |= one[i];
    for (const std::string& name : MissingFeatures(one)) missing.push_back(name);
  }
  ASSERT_FALSE(missing.empty());
  const std::string error = ErrorOf(WithNote(offsetof(OpwrightNote, features), Words{wanted}));
  EXPECT_NE(error.find("is built for instructions that this processor has not: it lacks "),
            error.npos)
      << error;
  for (const std::string& name : missing) EXPECT_NE(error.find(name), error.npos) << error;
  EXPECT_TRUE(error.ends_with("[LD011]")) << error;
  // A number that this Opwright does not know may be any instruction.
  const std::string unknown =
      ErrorOf(WithNote(offsetof(OpwrightNote, features), Words{{0, 0, 0, 1u << 31}}));
  EXPECT_NE(unknown.find("it lacks number 127"), unknown.npos) << unknown;
}

TEST_F(Doctored, AnotherMachineIsNamed) {
  for (const auto& [machine, name] : {std::pair(EM_AARCH64, "AArch64"),
                                      {EM_386, "x86 (32 bit)"},
                                      {EM_RISCV, "RISC-V"},
                                      {9999, "machine number 9999"}}) {
    std::string bytes = bytes_;
    const auto number = static_cast<uint16_t>(machine);
    memcpy(bytes.data() + offsetof(Elf64_Ehdr, e_machine), &number, 2);
    const std::string error = ErrorOf(bytes);
    EXPECT_NE(
        error.find(StrCat(" is for ", name, ", this process is x86-64; build it here [LD005]")),
        error.npos)
        << error;
  }
}

// The binding of the only exported symbol changed to STB_GNU_UNIQUE, which the build itself never
// makes.
TEST_F(Doctored, AUniqueSymbolIsAWarningOfTheLoad) {
  std::string bytes = bytes_;
  Elf64_Ehdr header;
  memcpy(&header, bytes.data(), sizeof header);
  bool changed = false;
  for (int i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    memcpy(&section, bytes.data() + header.e_shoff + static_cast<size_t>(i) * sizeof section,
           sizeof section);
    if (section.sh_type != SHT_DYNSYM) continue;
    for (size_t at = section.sh_offset; at < section.sh_offset + section.sh_size;
         at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      memcpy(&symbol, bytes.data() + at, sizeof symbol);
      if (symbol.st_shndx == SHN_UNDEF) continue;
      symbol.st_info = ELF64_ST_INFO(STB_GNU_UNIQUE, ELF64_ST_TYPE(symbol.st_info));
      memcpy(bytes.data() + at, &symbol, sizeof symbol);
      changed = true;
    }
  }
  ASSERT_TRUE(changed);
  const std::string path = JoinPath(folder_.path(), "unique.so");
  ASSERT_TRUE(WriteFileAtomic(path, bytes).ok());
  const auto library = LoadOrFail(path);
  ASSERT_EQ(library->warnings().size(), 1u);
  EXPECT_TRUE(library->warnings()[0].starts_with(path + " has unique symbols (opwright_library)"))
      << library->warnings()[0];
  EXPECT_TRUE(library->warnings()[0].ends_with("[LD015]"));
}

TEST_F(Doctored, AFileCutShortIsRefusedAtAnyLength) {
  size_t refused = 0;
  for (size_t length = 0; length < bytes_.size(); length += length < 600 ? 1 : 97) {
    const std::string error = ErrorOf(bytes_.substr(0, length));
    ASSERT_NE(error, "loaded") << length;
    const bool said = error.ends_with("[LD003]") || error.ends_with("[LD004]");
    ASSERT_TRUE(said) << length << ": " << error;
    ++refused;
  }
  EXPECT_GT(refused, 600u);
}

TEST_F(Doctored, RandomDamageNeverCrashesTheReader) {
  std::mt19937 random(11);
  int readable = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string bytes = bytes_;
    for (int k = 0; k < 8; ++k) {
      // Mostly in the headers and tables, where offsets and sizes are.
      const size_t range = round % 2 == 0 ? 2048 : bytes.size();
      const size_t from = round % 3 == 0 ? bytes.size() - std::min(range, bytes.size()) : 0;
      bytes[from + random() % std::min(range, bytes.size())] = static_cast<char>(random());
    }
    const Expected<ElfFile> elf = ReadElf("damaged.so", bytes);
    if (!elf.ok()) continue;
    ++readable;
    (void)CheckElf("damaged.so", *elf);
  }
  EXPECT_GT(readable, 0);
}

TEST_F(Doctored, AnOperatorLibraryNeedsOnlyTheCAndCxxLibraries) {
  const Expected<ElfFile> elf = ReadElf(path_, bytes_);
  ASSERT_TRUE(elf.ok());
  for (const std::string& needed : elf->needed)
    EXPECT_TRUE(needed == "libc.so.6" || needed == "libm.so.6" || needed == "libstdc++.so.6" ||
                needed == "libgcc_s.so.1" || needed == "ld-linux-x86-64.so.2")
        << needed;
}

// MindSpore finds an operator by its own name.
TEST_F(Doctored, AnOperatorLibraryExportsItsEntryAndItsOperators) {
  const Expected<ElfFile> elf = ReadElf(path_, bytes_);
  ASSERT_TRUE(elf.ok());
  EXPECT_EQ(elf->exports,
            (std::vector<std::string>{OPWRIGHT_LIBRARY_SYMBOL, "scale", "scaleInferShape"}));
  EXPECT_TRUE(elf->unique_symbols.empty());
}

// 190 KB when this was written, half of it code, and by some bytes more where paths are longer.
// What grows it is the entry archive.
TEST_F(Doctored, AnOperatorLibraryIsSmall) { EXPECT_LT(bytes_.size(), 210u * 1024); }

}  // namespace
}  // namespace opwright::test

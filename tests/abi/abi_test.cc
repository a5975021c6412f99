// SPDX-License-Identifier: Apache-2.0
//
// The layout of c_api.h in both languages, the symbols of libopwright.so, and the C program.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "layout.h"
#include "registry/elf_file.h"
#include "support/library.h"

namespace opwright::test {
namespace {

TEST(Layout, IsTheSameInCAndInCxx) {
  ASSERT_EQ(layout_c_size, layout_cxx_size);
  for (size_t i = 0; i < layout_c_size; ++i) {
    EXPECT_STREQ(layout_c[i].member, layout_cxx[i].member);
    EXPECT_EQ(layout_c[i].offset, layout_cxx[i].offset) << layout_c[i].member;
    EXPECT_EQ(layout_c[i].size, layout_cxx[i].size) << layout_c[i].member;
  }
}

size_t Offset(std::string_view member) {
  const auto* row = std::find_if(layout_c, layout_c + layout_c_size,
                                 [&](const LayoutRow& r) { return r.member == member; });
  EXPECT_NE(row, layout_c + layout_c_size) << member;
  return row->offset;
}

// What version 1.0 ended with: a field that is added stands behind it.
TEST(Layout, TheStructsThatGrewBeginAsTheyWereInVersionOne) {
  EXPECT_EQ(Offset("OpwrightKernel.signature"), 56u);
  EXPECT_EQ(Offset("OpwrightNote.features"), 112u);
  EXPECT_EQ(sizeof(OpwrightLibrary), 64u);
  EXPECT_EQ(sizeof(OpwrightOperatorEntry), 48u);
  EXPECT_EQ(sizeof(OpwrightOpDef), 120u);
  EXPECT_EQ(sizeof(OpwrightCall), 96u);
}

TEST(Layout, TheFrozenStructsAreAsTheyWereInVersionOne) {
  EXPECT_EQ(sizeof(OpwrightTensor), 48u);
  EXPECT_EQ(Offset("OpwrightTensor.device_type"), 8u);
  EXPECT_EQ(Offset("OpwrightTensor.ndim"), 16u);
  EXPECT_EQ(Offset("OpwrightTensor.dtype"), 20u);
  EXPECT_EQ(Offset("OpwrightTensor.shape"), 24u);
  EXPECT_EQ(Offset("OpwrightTensor.strides"), 32u);
  EXPECT_EQ(Offset("OpwrightTensor.byte_offset"), 40u);
  EXPECT_EQ(sizeof(OpwrightArgument), 16u);
  EXPECT_EQ(sizeof(OpwrightAttr), 24u);
  EXPECT_EQ(Offset("OpwrightAttr.value"), 16u);
}

TEST(Exports, TheCSymbolsOfTheCoreAreThoseThatAreRecorded) {
  const Expected<ElfFile> elf = ReadElf(OPWRIGHT_TEST_LIBRARY, *ReadFile(OPWRIGHT_TEST_LIBRARY));
  ASSERT_TRUE(elf.ok());
  std::vector<std::string> symbols;
  for (const std::string& name : elf->exports)
    if (!name.starts_with("_Z")) symbols.push_back(name);
  std::sort(symbols.begin(), symbols.end());
  const std::vector<std::string> recorded =
      Split(Trim(*ReadFile(OPWRIGHT_TEST_REPOSITORY "/tests/abi/exports.txt")), '\n');
  EXPECT_EQ(symbols, recorded)
      << "an added symbol is added to tests/abi/exports.txt; none is taken away";
}

TEST(CApi, WorksInAProgramInC) {
  const std::string source =
      StrCat(ScaleSource("3"),
             "struct BadKernel : opwright::OpKernelBase {\n"
             "  opwright::Status Compute(const opwright::OpKernelInput&, "
             "opwright::OpKernelOutput*) override {\n"
             "    return opwright::Status::Error(\"on purpose\");\n  }\n};\n");
  const std::string path =
      BuildLibrary(StrCat("[", ScaleMetadef(), ",\n", ScaleMetadef("bad"), "]"), source);
  EXPECT_STREQ(c_api_test(path.c_str()), nullptr);
}

}  // namespace
}  // namespace opwright::test

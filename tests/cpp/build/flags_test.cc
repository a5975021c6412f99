// SPDX-License-Identifier: Apache-2.0
//
// The user's flags: what reaches the compiler, what the linker, what is said about the rest.
#include "build/flags.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/file.h"
#include "base/text.h"

namespace opwright::build {
namespace {

bool Has(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

TEST(Flags, FastMathCompilesWithAWarningAndNeverLinks) {
  for (const char* flag : {"-ffast-math", "-Ofast", "-funsafe-math-optimizations"}) {
    const auto flags = ReadFlags({flag}, "");
    ASSERT_TRUE(flags.ok());
    EXPECT_TRUE(Has(flags->compile, flag));
    EXPECT_TRUE(flags->link.empty());
    ASSERT_EQ(flags->warnings.size(), 1u);
    EXPECT_EQ(flags->warnings[0].id, "BD019");
  }
}

TEST(Flags, AMissingFolderIsAWarning) {
  const auto flags = ReadFlags({"-I/no/such/include", "-L", "no/such/lib64", "-lacl", "-lm"}, "");
  ASSERT_TRUE(flags.ok());
  EXPECT_TRUE(flags->compile.empty());
  EXPECT_EQ(flags->link, std::vector<std::string>{"-lm"});
  ASSERT_EQ(flags->warnings.size(), 2u);
  EXPECT_EQ(flags->warnings[0].id, "BD020");
  EXPECT_NE(flags->warnings[0].message.find("/no/such/include"), std::string::npos);
  EXPECT_NE(flags->warnings[1].hint.find(AbsolutePath("no/such/lib64")), std::string::npos);
}

TEST(Flags, RelativeFoldersBecomeAbsolute) {
  const auto flags = ReadFlags({"-I.", "-isystem", "."}, "");
  ASSERT_TRUE(flags.ok());
  EXPECT_TRUE(Has(flags->compile, "-I" + AbsolutePath(".")));
  EXPECT_EQ(flags->include_dirs.size(), 2u);
}

TEST(Flags, TheCompilersOwnFoldersNeedNotBeThere) {
  const std::string absolute = AbsolutePath("no/root");
  for (const std::vector<std::string>& given :
       {std::vector<std::string>{"--sysroot=no/root"}, {"--sysroot", "no/root"}}) {
    const auto flags = ReadFlags(given, "");
    ASSERT_TRUE(flags.ok());
    EXPECT_EQ(flags->compile, std::vector<std::string>{"--sysroot=" + absolute});
    EXPECT_TRUE(flags->warnings.empty());
  }
  const auto flags =
      ReadFlags({"-isysroot", "no/root", "-iprefix", "/a/", "-iwithprefix", "b"}, "");
  ASSERT_TRUE(flags.ok());
  EXPECT_EQ(flags->compile, (std::vector<std::string>{"-isysroot", absolute, "-iprefix", "/a/",
                                                      "-iwithprefix", "b"}));
  EXPECT_EQ(ReadFlags({"--sysroot"}, "").error().id, "BD018");
}

TEST(Flags, ArchitectureIsRecordedUnderANameThatCanBeChecked) {
  EXPECT_EQ(ReadFlags({}, "x86-64")->march, "");
  EXPECT_EQ(ReadFlags({"-march=x86-64-v3"}, "")->march, "x86-64-v3");
  EXPECT_NE(ReadFlags({}, "native")->march, "native");
  EXPECT_EQ(ReadFlags({}, "x86 64").error().id, "BD018");
  EXPECT_EQ(ReadFlags({}, std::string(40, 'a')).error().id, "BD018");
}

TEST(Flags, AFileOfFlagsAndAMissingValueAreRefused) {
  EXPECT_EQ(ReadFlags({"@flags.txt"}, "").error().id, "BD018");
  EXPECT_EQ(ReadFlags({"-I"}, "").error().id, "BD018");
}

TEST(Flags, ThatStopBeforeThereIsAnObjectAreRefused) {
  for (const char* flag : {"-S", "-E", "-M", "-MM", "-fsyntax-only"}) {
    const auto flags = ReadFlags({flag}, "");
    ASSERT_FALSE(flags.ok()) << flag;
    EXPECT_EQ(flags.error().id, "BD018");
    EXPECT_NE(flags.error().message.find(StrCat("the flag ", flag, " ")), std::string::npos);
  }
}

TEST(Flags, LinkerFlagsDoNotReachTheCompiler) {
  const auto flags = ReadFlags({"-Wl,-z,now", "-DN=1", "-D", "M", "-fopenmp", "-shared"}, "");
  ASSERT_TRUE(flags.ok());
  EXPECT_EQ(flags->compile, (std::vector<std::string>{"-DN=1", "-DM", "-fopenmp"}));
  EXPECT_EQ(flags->link, (std::vector<std::string>{"-Wl,-z,now", "-fopenmp"}));
}

}  // namespace
}  // namespace opwright::build

// SPDX-License-Identifier: Apache-2.0
//
// Everything that is linked is a part of the key, however it is named.
#include <gtest/gtest.h>

#include "fixture.h"

namespace opwright::build {
namespace {

class LinkKey : public BuildFixture {
 protected:
  LinkKey() { WriteOperator("op", "helper()", "extern \"C\" float helper();\n"); }

  void Run(const std::string& command) { ASSERT_EQ(system(command.c_str()), 0) << command; }

  // lib/libhelper.a with a helper that returns the value; its members elsewhere when it is thin.
  void WriteArchive(int value, const std::string& modes = "rcD") {
    Write("lib/helper.c", StrCat("float helper(void) { return ", value, "; }\n"));
    const std::string folder = Path("lib");
    Run(StrCat("cd '", folder, "' && cc -fPIC -c helper.c && rm -f libhelper.a && ar ", modes,
               " libhelper.a helper.o"));
  }
};

TEST_F(LinkKey, AChangedArchiveIsSeenHoweverItIsNamed) {
  const std::string archive = Path("lib/libhelper.a");
  Write("lib/libscript.so", StrCat("INPUT(", archive, ")\n"));
  int value = 1;
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {"-L" + Path("lib"), "-lhelper"},
           {"-L" + Path("lib"), "-l:libhelper.a"},
           {"-Wl," + archive},
           {"-Wl,--whole-archive," + archive + ",--no-whole-archive"},
           {"-Xlinker", archive},
           {"-L" + Path("lib"), "-Wl,-lhelper"},
           {"-Wl,-L" + Path("lib") + ",-l:libhelper.a"},
           {"-L" + Path("lib"), "-lscript"}}) {
    WriteArchive(++value);
    EXPECT_EQ(Factor(flags), value) << Join(flags, " ");
    EXPECT_EQ(Factor(flags), value) << Join(flags, " ");
    EXPECT_TRUE(hit_) << Join(flags, " ");
    WriteArchive(++value);
    EXPECT_EQ(Factor(flags), value) << Join(flags, " ");
    EXPECT_FALSE(hit_) << Join(flags, " ");
  }
}

TEST_F(LinkKey, TheMembersOfAThinArchiveAreSeen) {
  for (const int value : {2, 3}) {
    WriteArchive(value, "rcDT");
    EXPECT_EQ(Factor({"-Wl," + Path("lib/libhelper.a")}), value);
  }
}

TEST_F(LinkKey, AnArchiveThatAppearsInAnEarlierFolderIsSeen) {
  WriteArchive(2);
  const std::vector<std::string> flags = {"-Wl,-L" + Path("first"), "-L" + Path("first"),
                                          "-L" + Path("lib"), "-Wl,-lhelper"};
  ASSERT_TRUE(MakeFolders(Path("first")).ok());
  EXPECT_EQ(Factor(flags), 2);
  Run(StrCat("cp '", Path("lib/libhelper.a"), "' '", Path("keep.a"), "'"));
  WriteArchive(3);
  Run(StrCat("mv '", Path("lib/libhelper.a"), "' '", Path("first"), "/' && mv '", Path("keep.a"),
             "' '", Path("lib/libhelper.a"), "'"));
  EXPECT_EQ(Factor(flags), 3);
}

TEST_F(LinkKey, AFileThatSaysHowToLinkIsSeen) {
  WriteArchive(2);
  const std::string archive = "-Wl," + Path("lib/libhelper.a");
  for (const std::string option : {"--retain-symbols-file", "--dynamic-list"}) {
    const std::vector<std::string> flags = {archive, StrCat("-Wl,", option, "=", Path("list"))};
    const bool names = option == "--retain-symbols-file";
    Write("list", names ? "opwright_library\n" : "{ opwright_library; };\n");
    EXPECT_EQ(Factor(flags), 2) << option;
    EXPECT_EQ(Factor(flags), 2) << option;
    EXPECT_TRUE(hit_) << option;
    Write("list", names ? "opwright_library\nother\n" : "{ opwright_library; other; };\n");
    EXPECT_EQ(Factor(flags), 2) << option;
    EXPECT_FALSE(hit_) << option;
  }
}

TEST_F(LinkKey, AFileOfWordsForTheLinkerIsRefused) {
  Write("words", "--as-needed\n");
  for (const std::vector<std::string>& flags : std::vector<std::vector<std::string>>{
           {"-Wl,@" + Path("words")}, {"-Xlinker", "@" + Path("words")}}) {
    const auto built = BuildOf("op", flags);
    ASSERT_FALSE(built.ok());
    EXPECT_NE(built.error().Text().find("names a file of flags"), std::string::npos)
        << built.error().Text();
    EXPECT_EQ(built.error().id, "BD018");
  }
}

// A linker that knows no --dependency-file.
TEST_F(LinkKey, ALinkerThatCannotTellWhatItReadLinksEachTime) {
  Write("old",
        "#!/bin/sh\ncase \"$*\" in *--dependency-file*)\n"
        "  echo \"ld: unrecognized option '--dependency-file'\" >&2; exit 1;; esac\n"
        "exec /usr/bin/c++ \"$@\"\n",
        0755);
  SetEnv("CXX", Path("old"));
  for (const int value : {2, 3, 3}) {
    WriteArchive(value);
    EXPECT_EQ(Factor({"-Wl,-L" + Path("lib") + ",-l:libhelper.a"}), value);
    EXPECT_FALSE(hit_);
  }
}

}  // namespace
}  // namespace opwright::build

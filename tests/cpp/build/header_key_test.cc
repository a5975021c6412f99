// SPDX-License-Identifier: Apache-2.0
//
// The headers of a source are parts of the key: those that it includes, those that would be found
// in their stead, and those that it asks for and that are not there yet.
#include <gtest/gtest.h>
#include <unistd.h>

#include "fixture.h"

namespace opwright::build {
namespace {

class HeaderKey : public BuildFixture {};

TEST_F(HeaderKey, AChangedHeaderOfAHeaderIsSeen) {
  WriteOperator("op", "S", "#include \"outer.h\"\n");
  Write("op/outer.h", "#include \"sub/inner.h\"\n");
  Write("op/sub/inner.h", "#define S 2\n");
  auto first = BuildOf("op");
  ASSERT_BUILT(first);
  Write("op/sub/inner.h", "#define S 3\n");
  auto second = BuildOf("op");
  ASSERT_BUILT(second);
  EXPECT_EQ(Loaded(first->path)(1), 2);
  EXPECT_EQ(Loaded(second->path)(1), 3);
  Write("op/sub/inner.h", "#define S 2\n");
  auto third = BuildOf("op");
  ASSERT_BUILT(third);
  EXPECT_TRUE(third->cache_hit);
  EXPECT_EQ(third->path, first->path);
}

TEST_F(HeaderKey, TheOrderOfIncludeFoldersIsPartOfTheKey) {
  WriteOperator("op", "S", "#include <s.h>\n");
  Write("a/s.h", "#define S 2\n");
  Write("b/s.h", "#define S 3\n");
  auto first = BuildOf("op", {"-I" + Path("a"), "-I" + Path("b")});
  auto second = BuildOf("op", {"-I" + Path("b"), "-I" + Path("a")});
  ASSERT_BUILT(first);
  ASSERT_BUILT(second);
  EXPECT_EQ(Loaded(first->path)(1), 2);
  EXPECT_EQ(Loaded(second->path)(1), 3);
}

TEST_F(HeaderKey, AHeaderThatAppearsInAnEarlierFolderIsSeen) {
  WriteOperator("op", "S", "#include <sub/s.h>\n");
  Write("a/other.h", "");
  Write("b/sub/s.h", "#define S 2\n");
  const std::vector<std::string> flags = {"-I" + Path("a"), "-I" + Path("b")};
  auto first = BuildOf("op", flags);
  ASSERT_BUILT(first);
  EXPECT_EQ(Loaded(first->path)(1), 2);
  Write("a/sub/s.h", "#define S 4\n");
  auto second = BuildOf("op", flags);
  ASSERT_BUILT(second);
  EXPECT_EQ(Loaded(second->path)(1), 4);
  EXPECT_TRUE(BuildOf("op", flags)->cache_hit);
}

// Lines that define FOUND when a header is there.
std::string Ask(const std::string& operand, const std::string& before = "") {
  return StrCat(before, "#if __has_include(", operand, ")\n#define FOUND\n#endif\n");
}

class HeaderThatAppears : public HeaderKey {
 protected:
  // The operator's factor is 2 with the header and 1 without it. @ in a flag: the test's folder.
  void Expect(const std::string& text, const std::string& place,
              std::vector<std::string> flags = {}) {
    for (std::string& flag : flags)
      if (const size_t at = flag.find('@'); at != flag.npos) flag.replace(at, 1, Path("."));
    WriteOperator(
        "op", "FACTOR",
        StrCat(text, "#ifdef FOUND\n#define FACTOR 2\n#else\n#define FACTOR 1\n#endif\n"));
    EXPECT_EQ(Factor(flags), 1);
    EXPECT_EQ(Factor(flags), 1);
    EXPECT_TRUE(hit_);
    Write(place, "");
    EXPECT_EQ(Factor(flags), 2);
    EXPECT_FALSE(hit_);
    EXPECT_EQ(Factor(flags), 2);
    EXPECT_TRUE(hit_);
    ASSERT_EQ(unlink(Path(place).c_str()), 0);
    EXPECT_EQ(Factor(flags), 1);
    EXPECT_TRUE(hit_);
  }
};

TEST_F(HeaderThatAppears, BesideTheSource) { Expect(Ask("\"x.h\""), "op/x.h"); }

TEST_F(HeaderThatAppears, InAFolderOfAFlag) {
  Write("inc/other.h", "");
  Expect(Ask("<x.h>"), "inc/x.h", {"-I@/inc"});
  Expect(Ask("<sub/y.h>"), "inc/sub/y.h", {"-I@/inc"});
  Expect(Ask("<z>"), "inc/z", {"-isystem", "@/inc"});
}

TEST_F(HeaderThatAppears, InAFolderAbove) {
  Expect(Ask("\"../x.h\""), "x.h");
  Expect(Ask("\"./y.h\""), "op/y.h");
}

TEST_F(HeaderThatAppears, AtAnAbsolutePath) {
  Expect(Ask(StrCat("\"", Path("far/x.h"), "\"")), "far/x.h");
}

TEST_F(HeaderThatAppears, InAFolderOfTheEnvironment) {
  Write("env/other.h", "");
  SetEnv("CPATH", Path("env"));
  Expect(Ask("<x.h>"), "env/x.h");
  SetEnv("CPATH", Path("later"));
  Expect(Ask("<x.h>"), "later/x.h");
}

// The kernel's own headers take the system's; links stand for them in another root.
TEST_F(HeaderThatAppears, InAFolderOfAnotherRoot) {
  for (const std::string name : {"apart", "joined", "isysroot"}) {
    const std::string root = name + "/usr/include", placed = StrCat("<of_", name, ".h>");
    ASSERT_TRUE(MakeFolders(DirName(Path(root))).ok());
    ASSERT_EQ(symlink("/usr/include", Path(root).c_str()), 0);
    const std::string local = name + "/usr/local/include/";
    Write(local + "other.h", "");
    const std::vector<std::string> flags =
        name == "apart"    ? std::vector<std::string>{"--sysroot", "@/apart"}
        : name == "joined" ? std::vector<std::string>{"--sysroot=@/joined"}
                           : std::vector<std::string>{"-isysroot", "@/isysroot"};
    Expect(Ask(placed), StrCat(local, "of_", name, ".h"), flags);
  }
}

TEST_F(HeaderThatAppears, InAFolderOfThePrefix) {
  Write("inc/other.h", "");
  Expect(Ask("<x.h>"), "inc/x.h", {"-iprefix", "@/", "-iwithprefix", "inc"});
}

TEST_F(HeaderThatAppears, AskedForByAHeader) {
  Write("op/sub/config.h", Ask("\"x.h\""));
  Expect("#include \"sub/config.h\"\n", "op/sub/x.h");
}

TEST_F(HeaderThatAppears, AskedForAsTheNextOfItsName) {
  Write("a/x.h", "#if __has_include_next(<x.h>)\n#define FOUND\n#endif\n");
  Write("b/other.h", "");
  Expect("#include <x.h>\n", "b/x.h", {"-I@/a", "-I@/b"});
}

TEST_F(HeaderThatAppears, NamedByAMacro) {
  Write("inc/other.h", "");
  Expect(Ask("NAME", "#define NAME \"x.h\"\n"), "op/x.h");
  Expect(Ask("NAME"), "op/y.h", {"-DNAME=\"y.h\""});
  Expect(Ask("TEXT(NAME)", "#define TEXT2(x) #x\n#define TEXT(x) TEXT2(x)\n"), "op/z.h",
         {"-D", "NAME=z.h"});
  Expect("#define HAS(x) __has_include(x)\n#if HAS(<u.h>)\n#define FOUND\n#endif\n", "inc/u.h",
         {"-I@/inc"});
}

TEST_F(HeaderThatAppears, BehindCommentsSplicesAndOtherSpellings) {
  Write("inc/other.h", "");
  Expect(
      "/* a */ # /*\n*/ if 1 < 2 && \\\n __has_include /* b */ ( <x.h> ) // c\n#define "
      "FOUND\n#endif\n",
      "inc/x.h", {"-I@/inc"});
  Expect("%:if __has_include(\"y.h\")\n#define FOUND\n#endif\n", "op/y.h");
  Expect(Ask("\".//z.h\""), "op/z.h");
}

}  // namespace
}  // namespace opwright::build

// SPDX-License-Identifier: Apache-2.0
//
// A library is its content: the same one through any path, another one under the same path.
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/sha256.h"
#include "registry/kernels.h"

namespace opwright::test {
namespace {

class Identity : public testing::Test {
 protected:
  Identity() : folder_(std::move(*TempFolder::Make())) {}
  std::string Path(const std::string& name) const { return JoinPath(folder_.path(), name); }
  // The library that multiplies by factor; marker makes it one of this test alone.
  static std::string Scale(int factor, const std::string& marker) {
    return BuildLibrary(ScaleMetadef(), StrCat("// ", marker, "\n", ScaleSource(StrCat(factor))));
  }
  static double TwoTimes(const std::string& path) {
    return CallScale(*FindOrFail(*LoadOrFail(path), "scale"), 2);
  }

 private:
  TempFolder folder_;
};

TEST_F(Identity, ACopyAndALinkAreTheSameLibrary) {
  const std::string path = Scale(3, "copy");
  std::filesystem::create_directory(Path("b"));
  std::filesystem::copy_file(path, Path("b/copy.so"));
  ASSERT_EQ(symlink(path.c_str(), Path("link.so").c_str()), 0);
  const auto first = LoadOrFail(path);
  EXPECT_EQ(LoadOrFail(Path("b/copy.so")), first);
  EXPECT_EQ(LoadOrFail(Path("link.so")), first);
}

TEST_F(Identity, TwoVersionsLiveSideBySideEachInItsOwnHandle) {
  const auto one = LoadOrFail(Scale(3, "versions"));
  const auto two = LoadOrFail(Scale(4, "versions"));
  EXPECT_NE(one->identity(), two->identity());
  const auto first = FindOrFail(*one, "scale");
  const auto second = FindOrFail(*two, "scale");
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(CallScale(*first, 2), 6);
    EXPECT_EQ(CallScale(*second, 2), 8);
  }
}

TEST_F(Identity, ALibraryRebuiltUnderTheSameNameRunsItsNewCodeAtTheNextLoad) {
  const std::string path = Path("libscale.so");
  for (const int factor : {3, 5, 7, 3}) {
    ASSERT_TRUE(WriteFileAtomic(path, *ReadFile(Scale(factor, "rebuilt"))).ok());
    EXPECT_EQ(TwoTimes(path), 2 * factor);
  }
}

TEST_F(Identity, AnOldHandleKeepsItsOldCode) {
  const std::string path = Path("libscale.so");
  ASSERT_TRUE(WriteFileAtomic(path, *ReadFile(Scale(3, "old handle"))).ok());
  const auto old = FindOrFail(*LoadOrFail(path), "scale");
  ASSERT_TRUE(WriteFileAtomic(path, *ReadFile(Scale(9, "old handle"))).ok());
  EXPECT_EQ(TwoTimes(path), 18);
  EXPECT_EQ(CallScale(*old, 2), 6);
}

TEST_F(Identity, AFileOverwrittenInPlaceAfterARenameRunsItsNewCode) {
  // The first content is mapped, moved away, and a new file of the old name is written byte by
  // byte, twice.
  const std::string path = Path("libscale.so");
  std::filesystem::copy_file(Scale(3, "in place"), path);
  EXPECT_EQ(TwoTimes(path), 6);
  std::filesystem::rename(path, Path("old.so"));
  for (const int factor : {5, 7}) {
    const std::string bytes = *ReadFile(Scale(factor, "in place"));
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    EXPECT_EQ(TwoTimes(path), 2 * factor);
  }
}

TEST_F(Identity, AnEqualBuildIdIsNotEqualContent) {
  const std::string path = Path("libscale.so");
  for (const int factor : {3, 5}) {
    const std::string source = StrCat("// build id\n", ScaleSource(StrCat(factor)));
    const std::string built =
        BuildLibrary(ScaleMetadef(), source, {"-Wl,--build-id=0x0123456789abcdef"});
    ASSERT_TRUE(WriteFileAtomic(path, *ReadFile(built)).ok());
    EXPECT_EQ(TwoTimes(path), 2 * factor);
  }
}

TEST_F(Identity, AFileThatIsReplacedWhileItIsLoadedRunsTheCodeOfItsIdentity) {
  const std::string three = *ReadFile(Scale(3, "replaced"));
  const std::string five = *ReadFile(Scale(5, "replaced"));
  for (int round = 0; round < 40; ++round) {
    // What follows an ELF file's end makes it another content with the same code.
    const std::string end = StrCat("round ", round);
    const std::string path = Path(StrCat(round, ".so"));
    ASSERT_TRUE(WriteFileAtomic(Path("three"), three + end).ok());
    ASSERT_TRUE(WriteFileAtomic(Path("five"), five + end).ok());
    std::filesystem::create_hard_link(Path("three"), path);
    std::atomic<bool> stop = false;
    std::thread replaces([&] {
      for (int i = 0; !stop; ++i) {
        std::filesystem::create_hard_link(Path(i % 2 == 0 ? "five" : "three"), Path("next"));
        std::filesystem::rename(Path("next"), path);
      }
    });
    const auto library = LoadOrFail(path);
    stop = true;
    replaces.join();
    const int factor = library->identity() == Sha256Hex(three + end) ? 3 : 5;
    ASSERT_EQ(CallScale(*FindOrFail(*library, "scale"), 2), 2 * factor) << round;
  }
}

TEST_F(Identity, APinnedFileIsMappedFromAPrivateCopy) {
  const std::string path = Scale(3, "pinned");
  const std::string identity = Sha256Hex(*ReadFile(path));
  Expected<LibraryHandle> loaded = LoadLibrary(path, identity);
  ASSERT_TRUE(loaded.ok()) << loaded.error().Text();
  EXPECT_EQ((*loaded)->path(), path);
  const std::string maps = *ReadFile("/proc/self/maps");
  EXPECT_NE(maps.find(StrCat("/loaded/", identity, ".so\n")), maps.npos);
  EXPECT_EQ(maps.find(path + "\n"), maps.npos);
}

TEST_F(Identity, ARebuiltLibraryLoadsWhereTheCacheCannotBeUsed) {
  const std::string path = Path("libscale.so");
  const std::string first = Scale(3, "no cache"), second = Scale(5, "no cache");
  ASSERT_TRUE(WriteFileAtomic(path, *ReadFile(first)).ok());
  const auto old = LoadOrFail(path);
  ASSERT_TRUE(WriteFileAtomic(path, *ReadFile(second)).ok());
  const ScopedEnv cache("OPWRIGHT_CACHE", "/proc/opwright-cache");
  ASSERT_TRUE(MakeFolders(Path("tmp")).ok());
  const ScopedEnv temporary("TMPDIR", Path("tmp").c_str());
  const auto library = LoadOrFail(path);
  ASSERT_NE(library, nullptr);
  EXPECT_EQ(CallScale(*FindOrFail(*library, "scale"), 2), 10);
  EXPECT_EQ(CallScale(*FindOrFail(*old, "scale"), 2), 6);
  ASSERT_EQ(library->warnings().size(), 1u);
  const std::string warning = library->warnings()[0];
  EXPECT_TRUE(warning.starts_with("the cache folder /proc/opwright-cache cannot be used: "))
      << warning;
  EXPECT_TRUE(warning.ends_with(
      StrCat("; ", Path("tmp/opwright-cache-"), geteuid(), " is used instead [CA004]")))
      << warning;
}

// What lies beside the library is found where a copy of it is mapped: by soname, by the file's name
// alone, and what a dependency has beside itself in turn.
TEST_F(Identity, ACopyFindsTheDependenciesOfItsOriginal) {
  for (const bool has_soname : {true, false}) {
    // Names of this round: an object that the process has would be taken again.
    const std::string mark = has_soname ? "soname" : "plain";
    const std::string built = Path("built_" + mark), used = Path("used_" + mark);
    const std::string beside = StrCat("beside_", mark), deep = StrCat("deep_", mark);
    std::filesystem::create_directories(built + "/deep");
    CompileObject(StrCat("int ", deep, "(void) { return 2; }"),
                  StrCat(built, "/deep/lib", deep, ".so"));
    CompileObject(StrCat("int ", deep, "(void); int ", beside, "(void) { return ", deep, "(); }"),
                  StrCat(built, "/lib", beside, ".so"),
                  StrCat(has_soname ? StrCat("-Wl,-soname,lib", beside, ".so") : "", " -L", built,
                         "/deep -l", deep, " '-Wl,-rpath,$ORIGIN/deep'"));
    const auto scale = [&](int factor) {
      return *ReadFile(BuildLibrary(ScaleMetadef(),
                                    StrCat("extern \"C\" int ", beside, "(void);\n",
                                           ScaleSource(StrCat(beside, "() * ", factor))),
                                    {StrCat("-L", built), StrCat("-l", beside)}));
    };
    const std::string first = scale(3), second = scale(4), third = scale(5);
    std::filesystem::rename(built, used);  // from here on only $ORIGIN leads there
    const std::string path = used + "/libscale.so";

    ASSERT_TRUE(WriteFileAtomic(path, first).ok());
    Expected<LibraryHandle> pinned = LoadLibrary(path, Sha256Hex(first));
    ASSERT_TRUE(pinned.ok()) << mark << ": " << pinned.error().Text();
    EXPECT_EQ(CallScale(*FindOrFail(**pinned, "scale"), 2), 12);

    ASSERT_TRUE(WriteFileAtomic(path, second).ok());
    EXPECT_EQ(TwoTimes(path), 16);
    ASSERT_TRUE(WriteFileAtomic(path, third).ok());
    EXPECT_EQ(TwoTimes(path), 20) << "rebuilt under the same name";
  }
}

TEST_F(Identity, AClosedLibraryLoadsAgainAndIsTheSame) {
  const std::string path = Scale(6, "closed");
  std::shared_ptr<Library> first;
  {
    Expected<LibraryHandle> handle = LoadLibrary(path);
    ASSERT_TRUE(handle.ok());
    first = handle->shared();
  }
  EXPECT_FALSE(first->is_open());
  Expected<LibraryHandle> again = LoadLibrary(path);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(again->shared(), first);
  EXPECT_TRUE(first->is_open());
}

TEST_F(Identity, MovedHandlesCountOnce) {
  Expected<LibraryHandle> loaded = LoadLibrary(Scale(8, "moved"));
  ASSERT_TRUE(loaded.ok());
  const std::shared_ptr<Library> library = loaded->shared();
  {
    LibraryHandle a = std::move(*loaded);
    LibraryHandle b = a;
    a = std::move(b);
  }
  EXPECT_FALSE(library->is_open());
}

}  // namespace
}  // namespace opwright::test

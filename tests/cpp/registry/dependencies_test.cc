// SPDX-License-Identifier: Apache-2.0
//
// Each library runs the code of the dependencies that it brings, whatever the process has under
// their names already; where it cannot, it says so.
#include "registry/dependencies.h"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "base/sha256.h"
#include "registry/kernels.h"

namespace opwright::test {
namespace {

class Dependencies : public testing::Test {
 protected:
  Dependencies() : folder_(std::move(*TempFolder::Make())) {}
  std::string Path(const std::string& name) const { return JoinPath(folder_.path(), name); }

  // folder/libNAME.so, whose NAME() is the value.
  std::string WriteDependency(const std::string& folder, const std::string& name, int value,
                              const std::string& flags = "") {
    return WriteObject(folder, name, StrCat("int ", name, "(void) { return ", value, "; }"), flags);
  }
  // folder/libOUTER.so, whose OUTER() is NAME() of folder/libNAME.so.
  void WriteOuter(const std::string& folder, const std::string& outer, const std::string& name) {
    WriteObject(folder, outer,
                StrCat("int ", name, "(void);\nint ", outer, "(void) { return ", name, "(); }"),
                StrCat("-L'", Path(folder), "' -l", name, " -Wl,-rpath,'$ORIGIN'"));
  }
  // The same with nothing that its library takes.
  std::string WriteWithoutIt(const std::string& folder, const std::string& name) {
    return WriteObject(folder, name, "int nothing(void) { return 0; }");
  }

  // folder/libscale.so, which multiplies by NAME() * factor and finds libNAME.so beside itself.
  std::string WriteScale(const std::string& folder, const std::string& name, int factor) {
    const std::string built = BuildLibrary(
        ScaleMetadef(),
        StrCat("extern \"C\" int ", name, "(void);\n", ScaleSource(StrCat(name, "() * ", factor))),
        {StrCat("-L", Path(folder)), StrCat("-l", name)});
    const std::string path = Path(folder + "/libscale.so");
    EXPECT_TRUE(WriteFileAtomic(path, *ReadFile(built)).ok());
    return path;
  }

  static Expected<LibraryHandle> LoadPinned(const std::string& path) {
    return LoadLibrary(path, Sha256Hex(*ReadFile(path)));
  }
  // What is said of a library that lacks NAME().
  static std::string Lacks(const std::string& path, const std::string& name) {
    return StrCat(path, ": undefined symbol ", name,
                  "; link what defines it, or import the framework that does before loading");
  }

  static double TimesOne(const std::string& path) {
    return CallScale(*FindOrFail(*LoadOrFail(path), "scale"), 1);
  }
  static std::vector<std::string> Warnings(const std::string& path) {
    return LoadOrFail(path)->warnings();
  }

 private:
  std::string WriteObject(const std::string& folder, const std::string& name,
                          const std::string& code, const std::string& flags = "") {
    std::filesystem::create_directories(Path(folder));
    const std::string made = Path("made.so"), path = Path(StrCat(folder, "/lib", name, ".so"));
    CompileObject(code, made, StrCat("-Wl,-soname,lib", name, ".so ", flags));
    // What is mapped stays as it was.
    EXPECT_TRUE(WriteFileAtomic(path, *ReadFile(made)).ok());
    return path;
  }

  TempFolder folder_;
};

TEST_F(Dependencies, OfOneNameBesideTwoLibrariesAreTwo) {
  for (const std::string flags : {"", "-Wl,--build-id=none"}) {
    const std::string name = flags.empty() ? "helper_two" : "helper_two_plain";
    const std::string a = "a_" + name, b = "b_" + name, c = "c_" + name;
    WriteDependency(a, name, 3, flags);
    WriteDependency(b, name, 5, flags);
    const std::string first = WriteScale(a, name, 1), second = WriteScale(b, name, 10);
    EXPECT_EQ(TimesOne(first), 3);
    EXPECT_EQ(TimesOne(second), 50);
    EXPECT_EQ(TimesOne(first), 3);
    EXPECT_TRUE(Warnings(second).empty());
    // Another library beside the second shares its dependency.
    std::filesystem::copy(Path(b), Path(c));
    EXPECT_EQ(TimesOne(WriteScale(b, name, 100)), 500);
    EXPECT_EQ(TimesOne(WriteScale(c, name, 1000)), 5000);
  }
}

TEST_F(Dependencies, AsPinnedFilesAreTwoToo) {
  WriteDependency("a", "helper_pinned", 3);
  WriteDependency("b", "helper_pinned", 5);
  for (const auto& [folder, factor, expected] : {std::tuple("a", 1, 3), std::tuple("b", 10, 50)}) {
    const std::string path = WriteScale(folder, "helper_pinned", factor);
    Expected<LibraryHandle> loaded = LoadPinned(path);
    ASSERT_TRUE(loaded.ok()) << loaded.error().Text();
    EXPECT_EQ(CallScale(*FindOrFail(**loaded, "scale"), 1), expected);
  }
}

TEST_F(Dependencies, OfADependencyAreSharedWithAWarning) {
  WriteDependency("a", "helper_below", 3);
  WriteOuter("a", "outer_below", "helper_below");
  WriteDependency("b", "helper_below", 5);
  EXPECT_EQ(TimesOne(WriteScale("b", "helper_below", 10)), 50);
  const std::string second = WriteScale("a", "outer_below", 1);
  EXPECT_EQ(TimesOne(second), 5) << "of b";
  const std::vector<std::string> warnings = Warnings(second);
  ASSERT_EQ(warnings.size(), 1u);
  for (const char* words : {"a/libhelper_below.so", "b/libhelper_below.so", "[LD016]"})
    EXPECT_NE(warnings[0].find(words), std::string::npos) << warnings[0];
}

TEST_F(Dependencies, OfADependencyAreNotTakenForALibrarysOwn) {
  WriteDependency("a", "helper_first", 3);
  WriteOuter("a", "outer_first", "helper_first");
  WriteDependency("b", "helper_first", 5);
  EXPECT_EQ(TimesOne(WriteScale("a", "outer_first", 1)), 3);
  const std::string second = WriteScale("b", "helper_first", 10);
  EXPECT_EQ(TimesOne(second), 50);
  EXPECT_TRUE(Warnings(second).empty());
}

// Files of two devices may have one number.
TEST_F(Dependencies, OfOneNumberOnTwoDevicesAreTwo) {
  bool could = true;
  std::thread([&] {  // with mounts of its own
    could = unshare(CLONE_NEWNS) == 0 && mount("", "/", "", MS_REC | MS_PRIVATE, "") == 0;
    for (const std::string flags : {"", "-Wl,--build-id=none"}) {
      const std::string name = flags.empty() ? "helper_number" : "helper_number_plain";
      const std::string a = "a_" + name, b = "b_" + name;
      for (const std::string& folder : {a, b}) {
        std::filesystem::create_directories(Path(folder));
        could = could && mount("tmpfs", Path(folder).c_str(), "tmpfs", 0, "") == 0;
      }
      if (!could) return;
      struct stat first{}, second{};
      stat(WriteDependency(a, name, 3, flags).c_str(), &first);
      stat(WriteDependency(b, name, 5, flags).c_str(), &second);
      EXPECT_EQ(first.st_ino, second.st_ino);
      EXPECT_EQ(TimesOne(WriteScale(a, name, 1)), 3);
      EXPECT_EQ(TimesOne(WriteScale(b, name, 10)), 50);
    }
  })
      .join();
  if (!could) GTEST_SKIP() << "needs the right to mount";
}

TEST_F(Dependencies, CorrectedAfterALoadThatFailedAreTaken) {
  for (const bool pinned : {false, true}) {
    const std::string name = pinned ? "helper_fixed_pinned" : "helper_fixed";
    WriteDependency("a", name, 3);
    const std::string path = WriteScale("a", name, 1);
    WriteWithoutIt("a", name);
    Expected<LibraryHandle> first = LoadPinned(path);
    ASSERT_FALSE(first.ok());
    EXPECT_EQ(first.error().id, "LD010");
    WriteDependency("a", name, 5);
    Expected<LibraryHandle> second = pinned ? LoadPinned(path) : LoadLibrary(path);
    ASSERT_TRUE(second.ok()) << second.error().Text();
    EXPECT_EQ(CallScale(*FindOrFail(**second, "scale"), 1), 5);
    EXPECT_TRUE((*second)->warnings().empty());
  }
}

TEST_F(Dependencies, OfTheProcessAreNamedWhereTheyLackWhatALibraryTakes) {
  const std::string own = WriteWithoutIt("own", "helper_lacks");
  const std::string brought = WriteDependency("a", "helper_lacks", 3);
  const std::string path = WriteScale("a", "helper_lacks", 1);
  void* const handle = dlopen(own.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  Expected<LibraryHandle> loaded = LoadLibrary(path);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().id, "LD010");
  EXPECT_EQ(loaded.error().message,
            StrCat(Lacks(path, "helper_lacks"), "; ", path, " brings ", brought,
                   ", and the code of ", own,
                   ", as it was when it was mapped, runs in its place: the process has one object "
                   "of the name libhelper_lacks.so; give one of them another name, or start a new "
                   "process [LD016]"));
  // Nothing of it is held: when the process has closed its own, the library's is taken.
  dlclose(handle);
  EXPECT_EQ(dlopen("libhelper_lacks.so", RTLD_NOLOAD | RTLD_LAZY), nullptr);
  EXPECT_EQ(TimesOne(path), 3);
  EXPECT_TRUE(Warnings(path).empty());
}

TEST_F(Dependencies, RebuiltTogetherWithTheirLibraryRunTheirNewCode) {
  double expected = 0;
  for (int i = 1; i <= 4; ++i) {
    WriteDependency("a", "helper_again", i);
    expected = 10 * i * i;
    EXPECT_EQ(TimesOne(WriteScale("a", "helper_again", 10 * i)), expected);
  }
}

TEST_F(Dependencies, OneNameAndOneContentIsOne) {
  WriteDependency("a", "helper_same", 3);
  const std::string first = WriteScale("a", "helper_same", 1);
  std::filesystem::create_directories(Path("b"));
  std::filesystem::copy_file(Path("a/libhelper_same.so"), Path("b/libhelper_same.so"));
  EXPECT_EQ(TimesOne(first), 3);
  EXPECT_EQ(TimesOne(WriteScale("b", "helper_same", 10)), 30);
  const std::string maps = *ReadFile("/proc/self/maps");
  EXPECT_EQ(maps.find(Path("b/libhelper_same.so")), maps.npos);
}

TEST_F(Dependencies, WhatTheProcessBroughtItselfIsSharedWithAWarning) {
  const std::string own = WriteDependency("own", "helper_own", 7);
  ASSERT_NE(dlopen(own.c_str(), RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror();
  const std::string brought = WriteDependency("a", "helper_own", 3);
  const std::string path = WriteScale("a", "helper_own", 1);
  EXPECT_EQ(TimesOne(path), 7);
  EXPECT_EQ(Warnings(path),
            std::vector<std::string>{StrCat(
                path, " brings ", brought, ", and the code of ", own,
                ", as it was when it was mapped, runs in its place: the process has one object of "
                "the name libhelper_own.so; give one of them another name, or start a new process "
                "[LD016]")});
}

// As a framework's own loader does.
TEST_F(Dependencies, OfALibraryThatIsMappedAlreadyAreAWarning) {
  WriteDependency("a", "helper_early", 3);
  const std::string helper = WriteDependency("b", "helper_early", 5);
  EXPECT_EQ(TimesOne(WriteScale("a", "helper_early", 1)), 3);
  const std::string path = WriteScale("b", "helper_early", 10);
  ASSERT_NE(dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror();
  EXPECT_EQ(TimesOne(path), 30);
  const std::vector<std::string> warnings = Warnings(path);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_TRUE(warnings[0].starts_with(StrCat(path, " brings ", helper, ", and the code of ")))
      << warnings[0];
}

TEST_F(Dependencies, RebuiltUnderAnUnchangedLibraryAreAWarningAtTheNextLoad) {
  const std::string helper = WriteDependency("a", "helper_stale", 3);
  const std::string path = WriteScale("a", "helper_stale", 1);
  EXPECT_EQ(TimesOne(path), 3);
  EXPECT_EQ(TimesOne(path), 3);
  EXPECT_TRUE(Warnings(path).empty());
  WriteDependency("a", "helper_stale", 4);
  for (int i = 0; i < 2; ++i) {
    const std::vector<std::string> warnings = Warnings(path);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_TRUE(
        warnings[0].starts_with(StrCat(path, " brings ", helper, ", and the code of ", helper)))
        << warnings[0];
    EXPECT_TRUE(warnings[0].ends_with("[LD016]"));
  }
}

TEST_F(Dependencies, OneLibrarysContentBesideTwoOfThemIsAWarning) {
  const std::string helper = WriteDependency("a", "helper_beside", 3);
  const std::string other = WriteDependency("b", "helper_beside", 5);
  const std::string path = WriteScale("a", "helper_beside", 1);
  std::filesystem::copy_file(path, Path("b/libscale.so"));
  EXPECT_EQ(TimesOne(path), 3);
  const std::vector<std::string> warnings = Warnings(Path("b/libscale.so"));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find(StrCat("brings ", other, ", and the code of ", helper)),
            std::string::npos)
      << warnings[0];
}

}  // namespace
}  // namespace opwright::test

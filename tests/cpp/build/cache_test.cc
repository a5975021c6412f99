// SPDX-License-Identifier: Apache-2.0
//
// When something is built again and when not, and what happens to what was there before.
#include "build/cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "base/cache_folder.h"
#include "fixture.h"

namespace opwright::build {
namespace {

class BuildCache : public BuildFixture {};

TEST_F(BuildCache, UnchangedInputsStartNoCompiler) {
  CountCompiler();
  WriteOperator("op", "2");
  auto first = BuildOf("op");
  ASSERT_BUILT(first);
  EXPECT_FALSE(first->cache_hit);
  EXPECT_EQ(Loaded(first->path)(3), 6);
  const int calls = Calls("");
  auto second = BuildOf("op");
  ASSERT_BUILT(second);
  EXPECT_TRUE(second->cache_hit);
  EXPECT_EQ(second->path, first->path);
  EXPECT_TRUE(second->commands.empty());
  EXPECT_EQ(Calls(""), calls);
}

TEST_F(BuildCache, AnEditCompilesTheKernelOnlyAndKeepsTheOldLibrary) {
  CountCompiler();
  Write("cc",
        StrCat("#!/bin/sh\necho \"stub $*\" >> '", Path("calls"), "'\nexec /usr/bin/cc \"$@\"\n"),
        0755);
  SetEnv("CC", Path("cc"));
  WriteOperator("op", "2");
  auto first = BuildOf("op");
  ASSERT_BUILT(first);
  const int stubs = Calls("stub ");
  WriteOperator("op", "5");
  auto second = BuildOf("op");
  ASSERT_BUILT(second);
  EXPECT_NE(second->path, first->path);
  EXPECT_EQ(Calls("stub "), stubs);
  EXPECT_EQ(Loaded(second->path)(3), 15);
  EXPECT_EQ(Loaded(first->path)(3), 6);
}

TEST_F(BuildCache, OneOfSeveralSourcesIsCompiledAlone) {
  CountCompiler();
  WriteOperator("op", "helper()", "float helper();\n");
  Write("op/helper.cc", "float helper() { return 2; }\n");
  ASSERT_BUILT(BuildOf("op"));
  EXPECT_EQ(Compilations(), 2);
  Write("op/helper.cc", "float helper() { return 7; }\n");
  auto second = BuildOf("op");
  ASSERT_BUILT(second);
  EXPECT_EQ(Compilations(), 3);
  EXPECT_EQ(Loaded(second->path)(1), 7);
}

TEST_F(BuildCache, FlagsMarchAndCompilerArePartsOfTheKey) {
  CountCompiler("one");
  WriteOperator("op", "N");
  auto first = BuildOf("op", {"-DN=1"});
  auto second = BuildOf("op", {"-DN=2"});
  ASSERT_BUILT(first);
  ASSERT_BUILT(second);
  EXPECT_EQ(Loaded(first->path)(1), 1);
  EXPECT_EQ(Loaded(second->path)(1), 2);
  EXPECT_NE(BuildOf("op", {"-DN=1", "-march=x86-64-v2"})->path, first->path);
  EXPECT_TRUE(BuildOf("op", {"-DN=1"})->cache_hit);
  // Another compiler, and the same path with other content.
  CountCompiler("two");
  EXPECT_FALSE(BuildOf("op", {"-DN=1"})->cache_hit);
  Write("two", *ReadFile(Path("two")) + "# newer\n", 0755);
  EXPECT_FALSE(BuildOf("op", {"-DN=1"})->cache_hit);
}

TEST_F(BuildCache, AMetadefIsPartOfTheKey) {
  WriteOperator("op", "2");
  auto first = BuildOf("op");
  ASSERT_BUILT(first);
  Write("op/op.json", Metadef("scale", ", \"namespace\": \"mine\""));
  auto second = BuildOf("op");
  ASSERT_BUILT(second);
  EXPECT_NE(second->path, first->path);
}

TEST_F(BuildCache, ARebuiltLibraryOfTheSamePathRunsItsNewCode) {
  WriteOperator("op", "1");
  ASSERT_BUILT(BuildOf("op", {}, "lib.so"));
  Loaded old(Path("lib.so"));
  EXPECT_EQ(old(1), 1);
  WriteOperator("op", "2");
  ASSERT_BUILT(BuildOf("op", {}, "lib.so"));
  Loaded renewed(Path("lib.so"));
  EXPECT_EQ(renewed(1), 2);
  EXPECT_EQ(old(1), 1);
}

TEST_F(BuildCache, AMappedOutputIsReplacedNotWritten) {
  WriteOperator("op", "1");
  ASSERT_BUILT(BuildOf("op", {}, "lib.so"));
  const int held = open(Path("lib.so").c_str(), O_RDONLY);
  struct stat before{}, after{}, kept{};
  fstat(held, &before);
  const std::string bytes = *ReadFile(Path("lib.so"));
  WriteOperator("op", "2");
  ASSERT_BUILT(BuildOf("op", {}, "lib.so"));
  stat(Path("lib.so").c_str(), &after);
  EXPECT_NE(after.st_ino, before.st_ino);
  fstat(held, &kept);
  EXPECT_EQ(kept.st_size, before.st_size);
  std::string read_back(bytes.size(), '\0');
  EXPECT_EQ(pread(held, read_back.data(), read_back.size(), 0), static_cast<ssize_t>(bytes.size()));
  EXPECT_EQ(read_back, bytes);
  close(held);
}

// Everything in the cache cut to 100 bytes, one kind of file after the other.
TEST_F(BuildCache, TruncatedFilesAreFoundAndMadeAgain) {
  WriteOperator("op", "2");
  auto first = BuildOf("op");
  ASSERT_BUILT(first);
  for (const char* kind : {"lib", "obj", "manifest", "tool"}) {
    for (const std::string& name : ListFolder(Path(StrCat("cache/", kind)))) {
      const std::string path = Path(StrCat("cache/", kind, "/", name));
      ASSERT_EQ(truncate(path.c_str(), name.ends_with(".so") || name.ends_with(".o") ? 100 : 10),
                0);
    }
    auto again = BuildOf("op");
    ASSERT_BUILT(again);
    EXPECT_EQ(Loaded(again->path)(3), 6) << kind;
  }
}

TEST_F(BuildCache, ADamagedLibraryIsToldAndMadeAgain) {
  WriteOperator("op", "2");
  auto first = BuildOf("op");
  ASSERT_BUILT(first);
  std::string bytes = *ReadFile(first->path);
  bytes[bytes.size() / 2] ^= 1;
  ASSERT_TRUE(WriteFileAtomic(first->path, bytes).ok());
  EXPECT_EQ(CheckPublished(first->path), Presence::kDamaged);
  auto again = BuildOf("op");
  ASSERT_BUILT(again);
  EXPECT_FALSE(again->cache_hit);
  ASSERT_EQ(again->warnings.size(), 1u);
  EXPECT_EQ(again->warnings[0].id, "CA005");
  EXPECT_EQ(CheckPublished(first->path), Presence::kWhole);
}

// Of the compiler's version, its assumptions and the hashes of large files.
TEST_F(BuildCache, DamagedNotesOfToolsAreMadeAgain) {
  WriteOperator("op", "2");
  auto first = BuildOf("op");
  ASSERT_BUILT(first);
  const std::string tools = Path("cache/tool");
  std::map<std::string, std::string> kept;
  for (const std::string& name : ListFolder(tools)) {
    const std::string bytes = *ReadFile(JoinPath(tools, name));
    kept[name] = bytes;
    ASSERT_TRUE(WriteFileAtomic(JoinPath(tools, name), bytes.substr(0, bytes.size() - 1)).ok());
  }
  ASSERT_GE(kept.size(), 3u);
  auto again = BuildOf("op");
  ASSERT_BUILT(again);
  EXPECT_TRUE(again->cache_hit);
  EXPECT_EQ(again->path, first->path);
  for (const auto& [name, bytes] : kept) EXPECT_EQ(*ReadFile(JoinPath(tools, name)), bytes) << name;
}

TEST_F(BuildCache, EightProcessesCompileOnce) {
  CountCompiler();
  WriteOperator("op", "2");
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      auto built = BuildOf("op");
      _exit(built.ok() && CheckPublished(built->path) == Presence::kWhole ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
  EXPECT_EQ(Compilations(), 1);
  EXPECT_EQ(Links(), 1);
}

TEST_F(BuildCache, EightThreadsCompileOnce) {
  CountCompiler();
  WriteOperator("op", "2");
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) threads.emplace_back([&] { EXPECT_TRUE(BuildOf("op").ok()); });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(Compilations(), 1);
  EXPECT_EQ(Links(), 1);
}

TEST_F(BuildCache, TheSameInputsGiveTheSameBytesFromAnyWorkingFolder) {
  WriteOperator("op", "2");
  auto first = BuildOf("op");
  ASSERT_BUILT(first);
  const std::string bytes = *ReadFile(first->path);
  SetEnv("OPWRIGHT_CACHE", Path("cache2"));
  const std::string folder = WorkingFolder();
  ASSERT_EQ(chdir(Path("op").c_str()), 0);
  auto second = BuildOf("op");
  ASSERT_EQ(chdir(folder.c_str()), 0);
  ASSERT_BUILT(second);
  EXPECT_TRUE(*ReadFile(second->path) == bytes);
}

TEST_F(BuildCache, ACacheThatOthersCanWriteIsRefused) {
  WriteOperator("op", "2");
  ASSERT_TRUE(MakeFolders(Path("cache"), 0700).ok());
  chmod(Path("cache").c_str(), 0770);
  auto built = BuildOf("op");
  ASSERT_FALSE(built.ok());
  EXPECT_EQ(built.error().id, "CA001");
  EXPECT_NE(built.error().message.find(Path("cache")), std::string::npos);
}

TEST_F(BuildCache, ACacheThatCannotBeMadeIsReplacedWithAWarning) {
  SetEnv("OPWRIGHT_CACHE", "/proc/opwright-cache");
  SetEnv("TMPDIR", Path("."));
  WriteOperator("op", "2");
  auto built = BuildOf("op");
  ASSERT_BUILT(built);
  ASSERT_EQ(built->warnings.size(), 1u);
  EXPECT_EQ(built->warnings[0].id, "CA004");
  EXPECT_NE(built->warnings[0].message.find("/proc/opwright-cache"), std::string::npos);
  EXPECT_EQ(Loaded(built->path)(3), 6);
  EXPECT_TRUE(BuildOf("op")->cache_hit);
  // Somebody else's link in its place is not followed.
  SetEnv("TMPDIR", Path("t"));
  Write("t/x", "");
  ASSERT_EQ(symlink(Path("cache").c_str(), Path(StrCat("t/opwright-cache-", geteuid())).c_str()),
            0);
  auto refused = BuildOf("op");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().id, "CA002");
}

// Permissions do not hold root, so a child takes another user's number.
TEST_F(BuildCache, AReadOnlyCacheIsReplacedWithAWarning) {
  WriteOperator("op", "2");
  ASSERT_BUILT(BuildOf("op"));
  constexpr uid_t kNobody = 65534;
  const uid_t user = geteuid() == 0 ? kNobody : geteuid();
  ASSERT_EQ(system(StrCat("chown -R ", user, " '", Path("."), "'; chmod -R a-w '", Path("cache"),
                          "'; mkdir -m 0777 '", Path("op/tmp"), "'")
                       .c_str()),
            0);
  SetEnv("TMPDIR", Path("op/tmp"));
  const pid_t child = fork();
  if (child == 0) {
    if (geteuid() == 0 && setuid(kNobody) != 0) _exit(2);
    auto built = BuildOf("op");
    if (!built.ok()) fprintf(stderr, "%s\n", built.error().Text().c_str());
    _exit(built.ok() && built->warnings.size() == 1 && built->warnings[0].id == "CA004" ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  ASSERT_EQ(system(StrCat("chmod -R u+w '", Path("cache"), "'").c_str()), 0);
}

TEST_F(BuildCache, ALockThatCannotBeOpenedIsAnError) {
  WriteOperator("op", "2");
  ASSERT_TRUE(MakeFolders(Path("cache/lock/entries"), 0700).ok());
  ASSERT_EQ(chmod(Path("cache").c_str(), 0700), 0);
  EXPECT_SAYS(Refused("op", "CA003"), Path("cache/lock/entries"));
  EXPECT_EQ(ClearCache(CacheFolderPath()).error().id, "CA003");
}

TEST_F(BuildCache, ASourceThatNeverRestsIsRefused) {
  WriteOperator("op", "2");
  const std::string source = Path("op/k.cpp");
  Write("editing",
        StrCat("#!/bin/sh\ncase \"$*\" in *' -c '*) echo // >> '", source,
               "' ;; esac\nexec /usr/bin/c++ \"$@\"\n"),
        0755);
  SetEnv("CXX", Path("editing"));
  EXPECT_SAYS(Refused("op", "BD028"), source + " changes while it is compiled");
  SetEnv("CXX", std::nullopt);
  EXPECT_EQ(Factor(), 2);
}

TEST_F(BuildCache, ClearingRemovesWhatWasBuiltAndNothingElse) {
  WriteOperator("op", "2");
  ASSERT_BUILT(BuildOf("op"));
  Write("cache/mine.txt", "kept");
  EXPECT_GT(MeasureCache(CacheFolderPath()).bytes, 0);
  ASSERT_TRUE(ClearCache(CacheFolderPath()).ok());
  EXPECT_TRUE(ListFolder(Path("cache/lib")).empty());
  EXPECT_TRUE(FileExists(Path("cache/mine.txt")));
  EXPECT_FALSE(BuildOf("op")->cache_hit);
}

TEST_F(BuildCache, ClearingWaitsForBuildsThatRun) {
  WriteOperator("op", "2");
  ASSERT_BUILT(BuildOf("op"));
  std::atomic<bool> done = false;
  std::jthread clearer([&] {
    while (!done) EXPECT_TRUE(ClearCache(CacheFolderPath()).ok());
  });
  for (int k = 3; k < 9; ++k) {
    WriteOperator("op", StrCat(k));
    auto built = BuildOf("op");
    EXPECT_TRUE(built.ok()) << built.error().Text();
  }
  done = true;
}

TEST_F(BuildCache, WhatWasBuiltStaysWhileItsResultIsHeld) {
  WriteOperator("op", "2");
  ASSERT_BUILT(BuildOf("op"));
  std::atomic<bool> cleared = false;
  std::jthread clearer;
  {
    auto built = BuildOf("op");
    ASSERT_BUILT(built);
    EXPECT_TRUE(built->cache_hit);
    clearer = std::jthread([&] {
      EXPECT_TRUE(ClearCache(CacheFolderPath()).ok());
      cleared = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    EXPECT_FALSE(cleared);
    EXPECT_TRUE(FileExists(built->path));
  }
  clearer.join();
  EXPECT_TRUE(ListFolder(Path("cache/lib")).empty());
}

}  // namespace
}  // namespace opwright::build

// SPDX-License-Identifier: Apache-2.0
//
// A library is its content: the same one through any path, another one under the same path.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

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

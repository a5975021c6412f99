// SPDX-License-Identifier: Apache-2.0
//
// tests/error: for each id of the metadef a file that earns it, and all that is said about that
// file.
#include <filesystem>

#include "base/ids.h"
#include "testing.h"

namespace opwright::metadef {
namespace {

const std::string& Folder() {
  static const std::string& folder =
      *new std::string(AbsolutePath(OPWRIGHT_REPOSITORY "/tests/error"));
  return folder;
}

// The name of the folder differs from machine to machine.
std::string Rendering(const std::string& id) {
  std::filesystem::current_path(Folder());
  std::string all;
  for (Diagnostic& d : ReadFile(StrCat(id, ".json")).diagnostics) {
    for (size_t at; (at = d.message.find(Folder())) != d.message.npos;)
      d.message.replace(at, Folder().size(), "FOLDER");
    all += Render(d) + "\n";
  }
  return all;
}

class ErrorCase : public testing::TestWithParam<std::string> {};

TEST_P(ErrorCase, IsRenderedAsRecorded) {
  const Expected<std::string> expected =
      opwright::ReadFile(JoinPath(Folder(), StrCat(GetParam(), ".txt")));
  ASSERT_TRUE(expected.ok()) << "the id has no case: " << expected.error().message;
  const std::string found = Rendering(GetParam());
  EXPECT_EQ(found, *expected);
  EXPECT_NE(found.find(StrCat("[", GetParam(), "]")), found.npos)
      << "the case does not show its id";
}

std::vector<std::string> MetadefIds() {
  std::vector<std::string> ids;
  for (const ErrorId& row : AllErrorIds())
    if (row.id.starts_with("MD")) ids.emplace_back(row.id);
  return ids;
}

INSTANTIATE_TEST_SUITE_P(Metadef, ErrorCase, testing::ValuesIn(MetadefIds()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace opwright::metadef

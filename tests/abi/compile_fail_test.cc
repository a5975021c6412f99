// SPDX-License-Identifier: Apache-2.0
//
// Each file of tests/compile_fail names in its first line the message with which it must not
// compile. The line that is wrong stands behind #ifdef MISUSE: without it, the rest compiles.
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"

namespace opwright::test {
namespace {

constexpr const char* kFolder = OPWRIGHT_TEST_REPOSITORY "/tests/compile_fail";

// What the compiler prints; "" when it is content.
std::string Compile(const std::string& path, const std::string& flags) {
  const std::string command = StrCat(
      OPWRIGHT_TEST_CXX
      " -std=c++17 -Wall -Wextra -Werror -fsyntax-only -I" OPWRIGHT_TEST_REPOSITORY "/include ",
      flags, " '", path, "' 2>&1");
  FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  char buffer[4096];
  while (const size_t n = fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, n);
  const int status = pclose(pipe);
  return status == 0 ? "" : output.empty() ? "failed without a word" : output;
}

class Misuse : public testing::TestWithParam<std::string> {};

TEST_P(Misuse, DoesNotCompile) {
  const std::string path = JoinPath(kFolder, GetParam());
  const std::string first_line = Split(*ReadFile(path), '\n')[0];
  constexpr std::string_view kMark = "// error: ";
  ASSERT_TRUE(first_line.starts_with(kMark)) << path;
  const std::string expected = first_line.substr(kMark.size());
  EXPECT_EQ(Compile(path, ""), "") << "the rest of the file is right";
  const std::string output = Compile(path, "-DMISUSE");
  EXPECT_NE(output.find(expected), output.npos) << output;
}

std::vector<std::string> Files() {
  std::vector<std::string> names;
  for (const std::string& name : ListFolder(kFolder))
    if (name.ends_with(".cpp")) names.push_back(name);
  return names;
}
INSTANTIATE_TEST_SUITE_P(KernelHeaders, Misuse, testing::ValuesIn(Files()), [](const auto& info) {
  return info.param.substr(0, info.param.size() - 4);
});

}  // namespace
}  // namespace opwright::test

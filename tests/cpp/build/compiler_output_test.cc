// SPDX-License-Identifier: Apache-2.0
//
// What is left of compiler output: the user's own lines, the first error first.
#include "build/compiler_output.h"

#include <gtest/gtest.h>

#include "build/manifest.h"
#include "build/symbols.h"

namespace opwright::build {
namespace {

TEST(CompilerOutput, ErrorsComeFirstAndQuotesArePlain) {
  const auto found = UserDiagnostics(
      "In file included from <stdin>:1:\n"
      "/w/k.cpp: In member function \xe2\x80\x98int f()\xe2\x80\x99:\n"
      "/w/k.cpp:3:7: warning: unused variable \xe2\x80\x98x\xe2\x80\x99 [-Wunused-variable]\n"
      "    3 |   int x;\n      |       ^\n"
      "/w/k.cpp:12:5: error: expected \xe2\x80\x98;\xe2\x80\x99 before \xe2\x80\x98}\xe2\x80\x99 "
      "token\n"
      "   12 |     }\n      |     ^\n",
      "/o/include");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].severity, Severity::kError);
  EXPECT_EQ(found[0].file, "/w/k.cpp");
  EXPECT_EQ(found[0].line, 12);
  EXPECT_EQ(found[0].column, 5);
  EXPECT_EQ(found[0].message, "expected ';' before '}' token");
  EXPECT_EQ(found[1].severity, Severity::kWarning);
}

TEST(CompilerOutput, GccErrorInOurHeaderIsReportedAtTheUsersLine) {
  const auto found = UserDiagnostics(
      "In file included from /w/k.cpp:1,\n                 from <stdin>:1:\n"
      "/o/include/opwright/kernel.h: In instantiation of 'static Status Call(const Args& ...)':\n"
      "/w/k.cpp:20:1:   required from here\n"
      "/o/include/opwright/kernel.h:250:9: error: no matching function for call to 'f(View<const "
      "int>)'\n"
      "/w/k.cpp:5:6: note: candidate: 'void f(View<float>)'\n",
      "/o/include");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].file, "/w/k.cpp");
  EXPECT_EQ(found[0].line, 20);
  EXPECT_EQ(found[0].message, "no matching function for call to 'f(View<const int>)'");
}

TEST(CompilerOutput, ClangErrorInOurHeaderIsReportedAtTheUsersLine) {
  const auto found = UserDiagnostics(
      "In file included from <stdin>:1:\nIn file included from /w/k.cpp:1:\n"
      "/o/include/opwright/view.h:10:3: error: no type named 'kValue'\n"
      "/w/k.cpp:9:12: note: in instantiation of member function 'Data<int>' requested here\n"
      "1 error generated.\n",
      "/o/include");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].file, "/w/k.cpp");
  EXPECT_EQ(found[0].line, 9);
}

TEST(CompilerOutput, AMissingHeaderOfAUsersHeaderIsTheUsers) {
  const auto found = UserDiagnostics(
      "In file included from /w/k.cpp:2,\n                 from <stdin>:1:\n"
      "/w/sub/h.h:1:10: fatal error: nothing.h: No such file or directory\ncompilation "
      "terminated.\n",
      "/o/include");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].file, "/w/sub/h.h");
  EXPECT_EQ(found[0].message, "nothing.h: No such file or directory");
}

TEST(CompilerOutput, WarningsInHeadersOfOthersAreDropped) {
  EXPECT_TRUE(
      UserDiagnostics(
          "/usr/include/x.h:1:1: warning: old\n/o/include/opwright/view.h:1:1: warning: w\n",
          "/o/include")
          .empty());
}

TEST(CompilerOutput, PathsKeepTheirBytes) {
  const auto found = UserDiagnostics("/tmp/算子/é.cpp:1:2: error: stop\n", "/o");
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].file, "/tmp/算子/é.cpp");
}

TEST(Dependencies, MakeRuleIsRead) {
  EXPECT_EQ(
      ParseDependencies(
          "out: <stdin> /w/k.cpp \\\n /w/with\\ space.h /w/a$$b.h \\\n  /w/k.cpp /w/l/../x.h\n"),
      (std::vector<std::string>{"/w/k.cpp", "/w/with space.h", "/w/a$b.h", "/w/l/../x.h"}));
  EXPECT_TRUE(ParseDependencies("").empty());
}

TEST(Symbols, FunctionNameIsWithoutScopeAndArguments) {
  EXPECT_EQ(FunctionName("helper(int)"), "helper");
  EXPECT_EQ(FunctionName("ns::helper(std::vector<int> const&)"), "helper");
  EXPECT_EQ(FunctionName("int helper<float>(float)"), "helper");
  EXPECT_EQ(FunctionName("go"), "go");
}

}  // namespace
}  // namespace opwright::build

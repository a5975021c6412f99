// SPDX-License-Identifier: Apache-2.0
//
// Which names of headers a source asks for, without what only looks like one.
#include "build/header_names.h"

#include <gtest/gtest.h>

namespace opwright::build {
namespace {

using Names = std::vector<std::string>;

// Of a source with this line that asks for a header.
Names AskedFor(const std::string& line, const std::vector<std::string>& command = {},
               const std::vector<std::string>& headers = {}) {
  return AbsentNames("#if __has_include(<asked>)\n#endif\n" + line + "\n", command, headers);
}

TEST(HeaderNames, BetweenQuotesOrAngles) {
  EXPECT_EQ(AskedFor("#if __has_include(\"b\") && __has_include(<c>)"), (Names{"asked", "b", "c"}));
  EXPECT_EQ(AskedFor("", {"-DNAME=\"b\"", "-O2", "-DTEXT=c.h"}), (Names{"asked", "b", "c.h"}));
}

TEST(HeaderNames, AClosingQuoteOpensNone) {
  EXPECT_EQ(AskedFor("#define TWO(x) \"a\" x \"b\"  \"c\""), (Names{"a", "asked", "b", "c"}));
  EXPECT_EQ(AskedFor("#define QUOTE '\"'\n#if QUOTE == '\"' && __has_include(\"b\")\n#endif"),
            (Names{"asked", "b"}));
}

TEST(HeaderNames, AComparisonOpensNone) {
  EXPECT_EQ(AskedFor("#if A < 2 && __has_include(<b>)\n#endif"), (Names{"asked", "b"}));
  EXPECT_EQ(AskedFor("#if A << (B) << 2 && __has_include(\"b\") && C > 0\n#endif"),
            (Names{"asked", "b"}));
}

TEST(HeaderNames, BlanksAreNone) {
  EXPECT_EQ(AskedFor("#define A \" \" \"\""), Names{"asked"});
  EXPECT_EQ(AskedFor("#define A(x) f< >(x)"), Names{"asked"});
}

TEST(HeaderNames, ThoseThatWereReadAreNotAbsent) {
  EXPECT_EQ(AskedFor("#include \"b.h\"", {}, {"/nowhere/b.h"}), Names{"asked"});
  EXPECT_TRUE(AbsentNames("#include \"b.h\"\n", {}, {}).empty());
}

}  // namespace
}  // namespace opwright::build

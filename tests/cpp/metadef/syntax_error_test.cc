// SPDX-License-Identifier: Apache-2.0
#include "testing.h"

namespace opwright::metadef {
namespace {

struct Slip {
  std::string text;
  std::string rendering;
};

class Syntax : public testing::TestWithParam<Slip> {};

TEST_P(Syntax, IsExplainedAtItsPlaceAndAlone) {
  EXPECT_EQ(Only(GetParam().text), GetParam().rendering);
}

INSTANTIATE_TEST_SUITE_P(
    Slips, Syntax,
    testing::Values(
        Slip{
            "[1,]",
            "1:3: error: not JSON: a comma before ']'; JSON allows none; remove the comma [MD002]"},
        Slip{
            "{\"a\": 1,\n}",
            "1:8: error: not JSON: a comma before '}'; JSON allows none; remove the comma [MD002]"},
        Slip{"{\"a\": 1,,}",
             "1:9: error: not JSON: a comma with nothing before it; remove the comma [MD002]"},
        Slip{"[,1]",
             "1:2: error: not JSON: a comma with nothing before it; remove the comma [MD002]"},
        Slip{"{'a': 1}",
             "1:2: error: not JSON: single quotes; JSON strings have double quotes; write "
             "\"...\" [MD002]"},
        Slip{"{a: 1}", "1:2: error: not JSON: the key a has no quotes; write \"a\" [MD002]"},
        Slip{"{\"a\" 1}", "1:6: error: not JSON: found 1, expected ':' [MD002]"},
        Slip{"{\"a\": 1\n \"b\": 2}",
             "2:2: error: not JSON: found a string, expected ',' or '}'; write the "
             "missing ',' before it [MD002]"},
        Slip{"{\"ä\": 1, \"ö\" 2}", "1:14: error: not JSON: found 2, expected ':' [MD002]"},
        Slip{"[NaN]",
             "1:2: error: not JSON: NaN is no JSON number; JSON has no NaN and no infinity; "
             "write a finite number [MD002]"},
        Slip{"[-Infinity]",
             "1:2: error: not JSON: -Infinity is no JSON number; JSON has no NaN and no "
             "infinity; write a finite number [MD002]"},
        Slip{"[True]", "1:2: error: not JSON: True is Python, not JSON; write true [MD002]"},
        Slip{"[01]", "1:2: error: not JSON: a number with a leading zero; remove the zero [MD002]"},
        Slip{"[..., 2]",
             "1:2: error: not JSON: found ..., expected a value or ']'; write \"...\" if it is a "
             "string [MD002]"},
        Slip{"[1, ..]",
             "1:5: error: not JSON: found .., expected a value; write \"...\" if it is a string "
             "[MD002]"},
        Slip{"[.5]",
             "1:2: error: not JSON: .5 is no JSON number; write a digit before the point [MD002]"},
        Slip{"[1e999]",
             "1:2: error: not JSON: the number is too large for a double; write a smaller one "
             "[MD002]"},
        Slip{"[\"abc",
             "1:2: error: not JSON: a string that is not closed; close it with '\"' [MD002]"},
        Slip{"[\"abc\n\"]",
             "1:2: error: not JSON: a string that does not end on its line; close it with "
             "'\"' [MD002]"},
        Slip{"[\"a\tb\"]",
             "1:4: error: not JSON: a control character (code 9) in a string; write \\t [MD002]"},
        Slip{"[\"ab\\qc\"]",
             "1:5: error: not JSON: a backslash escape that JSON does not have; write \\\\ "
             "for a backslash, \\u and 4 hex digits for a character [MD002]"},
        Slip{"[\"ab\\u12\"]",
             "1:5: error: not JSON: a backslash escape that JSON does not have; write \\\\ "
             "for a backslash, \\u and 4 hex digits for a character [MD002]"},
        Slip{"[\"ab\xff\"]",
             "1:5: error: not JSON: bytes in a string that are no UTF-8; save the file as "
             "UTF-8 [MD002]"},
        Slip{"// a\n{}", "1:1: error: not JSON: a comment; JSON has none; remove it [MD002]"},
        Slip{"{} x", "1:4: error: not JSON: found x, expected the end of the file [MD002]"},
        Slip{"{\"a\": [1, 2}", "1:12: error: not JSON: found '}', expected ',' or ']' [MD002]"},
        Slip{"{\n  \"a\": [1",
             "2:10: error: not JSON: the file ends, but the '[' of line 2, column 8 is not "
             "closed; write ']' [MD002]"},
        Slip{"{\"a\":",
             "1:6: error: not JSON: the file ends, but the '{' of line 1, column 1 is not closed; "
             "write '}' [MD002]"},
        Slip{"", "1:1: error: not JSON: the file is empty, expected an object or a list [MD002]"},
        Slip{"\xef\xbb\xbf{}",
             "1:1: error: not JSON: the file starts with a byte order mark (BOM); save it "
             "as UTF-8 without BOM [MD002]"}));

TEST(Syntax, EveryCutOfAFileIsOneErrorAndNoCrash) {
  const std::string whole =
      "{\"op_name\": \"a\", \"s\": \"\\u00e9\\ud83d\\ude00 \\\\\", \"n\": [-1.5e3, 0, true, null]}";
  ASSERT_EQ(Read(whole, "").diagnostics[0].id, "MD006");
  for (size_t length = 0; length < whole.size(); ++length) {
    const ReadResult result = Read(whole.substr(0, length), "");
    ASSERT_EQ(result.diagnostics.size(), 1u) << length;
    EXPECT_EQ(result.diagnostics[0].id, "MD002") << length;
  }
}

TEST(Syntax, EveryByteInTheMiddleIsBornWithoutACrash) {
  const std::string whole = "{\"op_name\": \"relu\", \"attr\": [1, 2.5, \"a\\n\"]}";
  for (size_t at = 0; at <= whole.size(); ++at)
    for (int byte = 0; byte < 256; ++byte)
      EXPECT_FALSE(Read(whole.substr(0, at) + static_cast<char>(byte) + whole.substr(at), "")
                       .diagnostics.empty());
}

}  // namespace
}  // namespace opwright::metadef

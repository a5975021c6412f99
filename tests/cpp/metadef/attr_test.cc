// SPDX-License-Identifier: Apache-2.0
#include "testing.h"

namespace opwright::metadef {
namespace {

std::string WithAttr(std::string_view attr) {
  return Op(Float("x"), Float("y"), StrCat(", \"attr\": [", attr, "]"));
}

std::string Typed(std::string_view type, std::string_view value) {
  return WithAttr(
      StrCat("{\"name\": \"a\", \"type\": \"", type, "\", \"default_value\": ", value, "}"));
}

TEST(Attr, EveryTypeTakesItsOwnDefault) {
  EXPECT_EQ(Good(Typed("int", "-9223372036854775808"))[0].attrs[0].default_value.i, INT64_MIN);
  EXPECT_EQ(Good(Typed("float", "2"))[0].attrs[0].default_value.f, 2.0);
  EXPECT_EQ(Good(Typed("float", "1e-5"))[0].attrs[0].default_value.f, 1e-5);
  EXPECT_EQ(Good(Typed("string", "\"a b\""))[0].attrs[0].default_value.s, "a b");
  EXPECT_EQ(Good(Typed("bool", "true"))[0].attrs[0].default_value.i, 1);
  EXPECT_EQ(Good(Typed("type", "\"fp16\""))[0].attrs[0].default_value.s, "float16");
  EXPECT_EQ(Good(Typed("list_int", "[]"))[0].attrs[0].default_value.ints, std::vector<int64_t>());
  EXPECT_EQ(Good(Typed("list_float", "[1, 0.5]"))[0].attrs[0].default_value.floats,
            (std::vector<double>{1, 0.5}));
  EXPECT_EQ(Good(Typed("list_string", "[\"\"]"))[0].attrs[0].default_value.strings,
            std::vector<std::string>{""});
  EXPECT_EQ(Good(Typed("list_bool", "[false, true]"))[0].attrs[0].default_value.ints,
            (std::vector<int64_t>{0, 1}));
  EXPECT_EQ(Good(Typed("list_list_int", "[[1], [], [2, 3]]"))[0].attrs[0].default_value.int_lists,
            (std::vector<std::vector<int64_t>>{{1}, {}, {2, 3}}));
}

TEST(Attr, OtherJsonTypesAreRefused) {
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"int", "\"1\""},  {"int", "1.0"},        {"int", "true"},           {"float", "\"0\""},
      {"bool", "0"},     {"bool", "1"},         {"bool", "\"true\""},      {"string", "1"},
      {"type", "32"},    {"list_int", "1"},     {"list_int", "[1, 2.5]"},  {"list_float", "[true]"},
      {"float", "null"}, {"list_bool", "[0]"},  {"list_string", "\"ab\""}, {"list_list_int", "[1]"},
      {"int", "{}"},     {"list_string", "[1]"}};
  for (const auto& [type, value] : wrong)
    EXPECT_EQ(Ids(Typed(type, value)), std::vector<std::string>{"MD025"}) << type << " " << value;
}

TEST(Attr, TheMessageNamesAttributeExpectedAndFoundType) {
  const std::string text = Only(Typed("int", "\"1\""));
  EXPECT_NE(text.find("the attribute a has the type int, its default is the string \"1\""),
            text.npos)
      << text;
}

TEST(Attr, IntegersOutsideOf64BitsAreRefused) {
  EXPECT_EQ(Ids(Typed("int", "9223372036854775807")), std::vector<std::string>());
  EXPECT_EQ(Ids(Typed("int", "9223372036854775808")), std::vector<std::string>{"MD026"});
  EXPECT_EQ(Ids(Typed("int", "-9223372036854775809")), std::vector<std::string>{"MD026"});
  EXPECT_EQ(Ids(Typed("list_int", "[123456789012345678901234567890]")),
            std::vector<std::string>{"MD026"});
  EXPECT_EQ(Good(Typed("float", "123456789012345678901234567890"))[0].attrs[0].default_value.f,
            1.2345678901234568e29);
}

TEST(Attr, OptionalNeedsADefaultAndRequiredMustHaveNone) {
  EXPECT_TRUE(Good(WithAttr("{\"name\": \"a\", \"type\": \"int\"}"))[0].attrs[0].required);
  EXPECT_FALSE(Good(Typed("int", "3"))[0].attrs[0].required);
  EXPECT_EQ(Ids(WithAttr("{\"name\": \"a\", \"type\": \"int\", \"param_type\": \"optional\"}")),
            std::vector<std::string>{"MD023"});
  EXPECT_EQ(Ids(WithAttr("{\"name\": \"a\", \"type\": \"int\", \"param_type\": \"required\", "
                         "\"default_value\": 3}")),
            std::vector<std::string>{"MD024"});
}

TEST(Attr, UnknownTypeNamesTheNearest) {
  const std::string text = Only(WithAttr("{\"name\": \"a\", \"type\": \"listint\"}"));
  EXPECT_NE(text.find("write \"list_int\""), text.npos) << text;
}

TEST(Attr, AZeroCharacterWouldEndAString) {
  const auto default_of = [](std::string_view type, std::string_view value) {
    return Only(Op(Float("x"), Float("y"),
                   StrCat(", \"attr\": [{\"name\": \"mode\", \"type\": \"", type,
                          "\", \"default_value\": ", value, "}]")));
  };
  const std::string string = default_of("string", "\"\u00e9\\u0000b\"");
  EXPECT_NE(string.find("attr[0]: the default of mode has a zero character"), string.npos)
      << string;
  EXPECT_NE(string.find("MD026"), string.npos) << string;
  const std::string list = default_of("list_string", "[\"a\", \"\\u0000\"]");
  EXPECT_NE(list.find("a string in the default of mode has a zero character"), list.npos) << list;
}

}  // namespace
}  // namespace opwright::metadef

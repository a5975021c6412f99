// SPDX-License-Identifier: Apache-2.0
#include "runtime/attrs.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "metadef/testing.h"
#include "support/test_op.h"

namespace opwright::test {
namespace {

using metadef::Float;

std::string WithAttrs(std::string_view attrs) {
  return metadef::Op(Float("x"), Float("z"),
                     StrCat(R"j(, "shape_rule": "same(x)", "attr": [)j", attrs, "]"), "f");
}

// Calls f with the attributes and hands those of the kernel to `look`.
std::string CallF(std::string_view attrs, std::vector<OpwrightAttr> given,
                  const std::function<void(const OpwrightAttr*)>& look) {
  TestOp op(WithAttrs(attrs), [&](const OpwrightCall& call) { look(call.attrs); });
  Tensor x(kF32, {1}), z(kF32, {1});
  return op.Run({x}, {z}, std::move(given));
}

constexpr auto kNothing = [](const OpwrightAttr*) {};

TEST(ResolveAttrs, DefaultsOfEveryTypeAreFilledIn) {
  const auto optional = [](std::string_view name, std::string_view type, std::string_view value) {
    return StrCat("{\"name\": \"", name, "\", \"type\": \"", type,
                  "\", \"param_type\": \"optional\", \"default_value\": ", value, "}");
  };
  const std::string attrs = StrCat(
      optional("i", "int", "-3"), ",", optional("f", "float", "0.25"), ",",
      optional("s", "string", "\"h\\u00e9\""), ",", optional("b", "bool", "true"), ",",
      optional("t", "type", "\"float16\""), ",", optional("li", "list_int", "[1, 2, 3]"), ",",
      optional("lf", "list_float", "[0.5]"), ",", optional("ls", "list_string", "[\"a\", \"\"]"),
      ",", optional("lb", "list_bool", "[true, false]"), ",",
      optional("lli", "list_list_int", "[[1, 2], [], [3]]"), ",",
      optional("none", "list_int", "[]"));
  const std::string error = CallF(attrs, {}, [](const OpwrightAttr* a) {
    EXPECT_EQ(a[0].value.i, -3);
    EXPECT_EQ(a[1].value.f, 0.25);
    EXPECT_STREQ(a[2].value.s, "h\xc3\xa9");
    EXPECT_EQ(a[2].size, 3);
    EXPECT_EQ(a[3].value.i, 1);
    EXPECT_STREQ(a[4].value.s, "float16");
    ASSERT_EQ(a[5].size, 3);
    EXPECT_EQ(static_cast<const int64_t*>(a[5].value.data)[2], 3);
    ASSERT_EQ(a[6].size, 1);
    EXPECT_EQ(static_cast<const double*>(a[6].value.data)[0], 0.5);
    ASSERT_EQ(a[7].size, 2);
    EXPECT_STREQ(static_cast<const char* const*>(a[7].value.data)[1], "");
    ASSERT_EQ(a[8].size, 2);
    EXPECT_EQ(static_cast<const int64_t*>(a[8].value.data)[0], 1);
    ASSERT_EQ(a[9].size, 3);
    const auto* lists = static_cast<const OpwrightAttr*>(a[9].value.data);
    EXPECT_EQ(lists[0].size, 2);
    EXPECT_EQ(lists[1].size, 0);
    EXPECT_EQ(static_cast<const int64_t*>(lists[2].value.data)[0], 3);
    EXPECT_EQ(a[10].size, 0);
  });
  EXPECT_EQ(error, "");
}

constexpr const char* kTwo = R"({"name": "eps", "type": "float"},
                                {"name": "axis", "type": "int", "param_type": "optional", "default_value": -1})";

TEST(ResolveAttrs, AMissingRequiredOneIsNamedWithItsType) {
  EXPECT_EQ(CallF(kTwo, {}, kNothing),
            "f: attribute eps (float) is required and was not given [CL006]");
  EXPECT_EQ(CallF(kTwo, {OpwrightAttr{}, IntAttr(2)}, kNothing),
            "f: attribute eps (float) is required and was not given [CL006]");
}

TEST(ResolveAttrs, AnotherTypeIsRefusedWithBoth) {
  EXPECT_EQ(CallF(kTwo, {StringAttr("x")}, kNothing),
            "f: attribute eps is float in the metadef, string was given [CL006]");
  EXPECT_EQ(CallF(kTwo, {FloatAttr(1), FloatAttr(2)}, kNothing),
            "f: attribute axis is int in the metadef, float was given [CL006]");
  EXPECT_EQ(CallF(kTwo, {FloatAttr(1), BoolAttr(true)}, kNothing),
            "f: attribute axis is int in the metadef, bool was given [CL006]");
}

TEST(ResolveAttrs, AnIntIsTakenForAFloatAndAStringForADtype) {
  EXPECT_EQ(CallF(kTwo, {IntAttr(3)},
                  [](const OpwrightAttr* a) {
                    EXPECT_EQ(a[0].type, kOpwrightAttrFloat);
                    EXPECT_EQ(a[0].value.f, 3.0);
                    EXPECT_EQ(a[1].value.i, -1);
                  }),
            "");
  EXPECT_EQ(CallF(R"({"name": "dtype", "type": "type"})", {StringAttr("int8")},
                  [](const OpwrightAttr* a) { EXPECT_EQ(a[0].type, kOpwrightAttrType); }),
            "");
}

TEST(ResolveAttrs, AListOfIntsIsTakenForAListOfFloats) {
  const int64_t ints[] = {1, -2};
  OpwrightAttr given = {kOpwrightAttrListInt, 0, 2, {}};
  given.value.data = ints;
  EXPECT_EQ(CallF(R"({"name": "weights", "type": "list_float"})", {given},
                  [](const OpwrightAttr* a) {
                    EXPECT_EQ(a[0].type, kOpwrightAttrListFloat);
                    ASSERT_EQ(a[0].size, 2);
                    EXPECT_EQ(static_cast<const double*>(a[0].value.data)[1], -2.0);
                  }),
            "");
}

TEST(ResolveAttrs, AnEmptyListIsAListOfEveryType) {
  const OpwrightAttr given = {kOpwrightAttrListInt, 0, 0, {}};
  for (const char* type : {"list_int", "list_float", "list_string", "list_bool", "list_list_int"})
    EXPECT_EQ(CallF(StrCat("{\"name\": \"v\", \"type\": \"", type, "\"}"), {given},
                    [](const OpwrightAttr* a) { EXPECT_EQ(a[0].size, 0); }),
              "")
        << type;
}

TEST(ResolveAttrs, MoreThanTheMetadefListsAreRefused) {
  EXPECT_EQ(CallF(kTwo, {FloatAttr(1), IntAttr(1), IntAttr(1)}, kNothing),
            "f: 3 attributes given, the metadef lists 2 [CL006]");
}

TEST(ResolveAttrs, WhatIsNotWholeIsRefused) {
  const auto of = [](int32_t type, int64_t size, const void* data) {
    OpwrightAttr attr = {};
    attr.type = type;
    attr.size = size;
    attr.value.data = data;
    return attr;
  };
  const char* const texts[] = {"a", nullptr};
  const OpwrightAttr lists[] = {of(kOpwrightAttrListInt, 1, nullptr)};
  const struct {
    const char* type;
    OpwrightAttr given;
  } wrong[] = {
      {"string", of(kOpwrightAttrString, 1, nullptr)},
      {"string", of(kOpwrightAttrString, 0, nullptr)},
      {"string", of(kOpwrightAttrString, -1, "a")},
      {"type", of(kOpwrightAttrType, 7, nullptr)},
      {"list_int", of(kOpwrightAttrListInt, 2, nullptr)},
      {"list_int", of(kOpwrightAttrListInt, -1, texts)},
      {"list_float", of(kOpwrightAttrListInt, 2, nullptr)},
      {"list_string", of(kOpwrightAttrListString, 2, nullptr)},
      {"list_string", of(kOpwrightAttrListString, 2, texts)},
      {"list_list_int", of(kOpwrightAttrListListInt, 1, lists)},
  };
  for (const auto& [type, given] : wrong) {
    const std::string attrs = StrCat("{\"name\": \"a\", \"type\": \"", type, "\"}");
    const std::string error = CallF(attrs, {given}, kNothing);
    EXPECT_NE(error.find("attribute a"), error.npos) << type << ": " << error;
    EXPECT_NE(error.find("a null pointer, or a negative size"), error.npos) << type << error;
  }
  EXPECT_EQ(CallF(R"j({"name": "a", "type": "list_int"})j", {of(kOpwrightAttrListInt, 0, nullptr)},
                  kNothing),
            "");
}

}  // namespace
}  // namespace opwright::test

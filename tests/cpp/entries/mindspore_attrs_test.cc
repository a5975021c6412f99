// SPDX-License-Identifier: Apache-2.0
//
// Attributes of every type in both spellings: exact, from Opwright's adapter, and MindSpore's own.
#include "entries/mindspore/attrs.h"

#include <gtest/gtest.h>

#include <bit>

#include "base/spelling.h"
#include "base/text.h"
#include "entries/aot.h"
#include "metadef/testing.h"
#include "runtime/attrs.h"
#include "support/test_op.h"

namespace opwright::test {
namespace {

constexpr const char* kTypes[] = {"int",       "float",        "string",     "bool",
                                  "type",      "list_int",     "list_float", "list_string",
                                  "list_bool", "list_list_int"};

// An operator with one attribute of the type, called "v".
std::string WithAttr(std::string_view type) {
  return metadef::Op(metadef::Float("x"), metadef::Float("z"),
                     StrCat(R"j(, "shape_rule": "same(x)", "attr": [{"name": "v", "type": ")j",
                            type, R"(", "param_type": "required"}])"),
                     "f");
}

// The attribute's value as text, "nothing" where it is not given, or what is thrown.
std::string Read(std::string_view type, FakeExtra& extra) {
  TestOp op(WithAttr(type));
  std::string text;
  const std::string thrown = Thrown([&] {
    Arena arena(nullptr);
    entries::ExtraReader reader(extra.get());
    const OpwrightAttr& attr = entries::ReadMindSporeAttrs(op.def(), reader, arena)[0];
    if (attr.type == 0) {
      text = "nothing";
      return;
    }
    EXPECT_EQ(AttrTypeName(attr.type), type);
    text = AttrText(attr);
  });
  return thrown.empty() ? text : thrown;
}

int64_t Bits(double value) { return std::bit_cast<int64_t>(value); }

TEST(MindSporeAttrs, ExactOnesAreReadAsTheAdapterWritesThem) {
  const auto exact = [](std::string_view type, const auto& set) {
    FakeExtra extra;
    set(extra);
    return Read(type, extra);
  };
  constexpr const char* kName = "opwright.v";
  EXPECT_EQ(exact("int", [](FakeExtra& e) { e.Int(kName, INT64_MIN); }), StrCat(INT64_MIN));
  EXPECT_EQ(exact("float", [](FakeExtra& e) { e.Int(kName, Bits(1.0 / 3)); }), StrCat(1.0 / 3));
  EXPECT_EQ(exact("string", [](FakeExtra& e) { e.String(kName, "a: b"); }), "\"a: b\"");
  EXPECT_EQ(exact("string", [](FakeExtra& e) { e.String(kName, ""); }), "\"\"");
  EXPECT_EQ(exact("bool", [](FakeExtra& e) { e.Int(kName, 1); }), "true");
  EXPECT_EQ(exact("type", [](FakeExtra& e) { e.String(kName, "float16"); }), "\"float16\"");
  EXPECT_EQ(exact("list_int", [](FakeExtra& e) { e.Ints(kName, {3, -1}); }), "[3, -1]");
  EXPECT_EQ(exact("list_int", [](FakeExtra& e) { e.Ints(kName, {}); }), "[]");
  EXPECT_EQ(exact("list_float", [](FakeExtra& e) { e.Ints(kName, {Bits(0.1), Bits(-2)}); }),
            "[0.1, -2]");
  EXPECT_EQ(exact("list_bool", [](FakeExtra& e) { e.Ints(kName, {1, 0}); }), "[true, false]");
  EXPECT_EQ(exact("list_string", [](FakeExtra& e) { e.String(kName, "3:abc0:4:1:2;"); }),
            R"(["abc", "", "1:2;"])");
  EXPECT_EQ(exact("list_string", [](FakeExtra& e) { e.String(kName, ""); }), "[]");
  EXPECT_EQ(exact("list_list_int", [](FakeExtra& e) { e.Ints(kName, {3, 2, 0, 1, 7, 8, 9}); }),
            "[[7, 8], [], [9]]");
  EXPECT_EQ(exact("list_list_int", [](FakeExtra& e) { e.Ints(kName, {0}); }), "[]");
}

TEST(MindSporeAttrs, PlainOnesAreReadAsMindSporeHasThem) {
  const auto plain = [](std::string_view type, const auto& set) {
    FakeExtra extra;
    set(extra);
    return Read(type, extra);
  };
  EXPECT_EQ(plain("int", [](FakeExtra& e) { e.Int("v", -7); }), "-7");
  EXPECT_EQ(plain("float", [](FakeExtra& e) { e.Float("v", 0.1F); }), "0.1");
  EXPECT_EQ(plain("string", [](FakeExtra& e) { e.String("v", "text"); }), "\"text\"");
  EXPECT_EQ(plain("bool", [](FakeExtra& e) { e.Bool("v", true); }), "true");
  EXPECT_EQ(plain("type", [](FakeExtra& e) { e.String("v", "int8"); }), "\"int8\"");
  EXPECT_EQ(plain("list_int", [](FakeExtra& e) { e.Ints("v", {1, 2}); }), "[1, 2]");
  EXPECT_EQ(plain("list_float", [](FakeExtra& e) { e.Floats("v", {0.1F, 1e-7F}); }),
            StrCat("[0.1, ", 1e-7, "]"));
  EXPECT_EQ(plain("list_list_int", [](FakeExtra& e) { e.IntRows("v", {{1}, {}, {2, 3}}); }),
            "[[1], [], [2, 3]]");
}

TEST(MindSporeAttrs, WhatMindSporeHandsToNoLibraryIsRefusedInWords) {
  for (const char* type : {"list_string", "list_bool"}) {
    FakeExtra extra;
    extra.Ints("v", {1});
    EXPECT_EQ(Read(type, extra),
              "attribute v is of a kind that MindSpore hands to no library; call the operator "
              "through opwright.mindspore [CL006]");
  }
}

TEST(MindSporeAttrs, TheExactOneIsTaken) {
  FakeExtra extra;
  extra.Float("v", 0.5F).Int("opwright.v", Bits(0.1));
  EXPECT_EQ(Read("float", extra), "0.1");
}

TEST(MindSporeAttrs, OneThatThePrimitiveHasNotIsNotGiven) {
  FakeExtra other;
  other.Int("w", 1);
  for (const char* type : kTypes) EXPECT_EQ(Read(type, other), "nothing");
  TestOp op(WithAttr("int"));
  Arena arena(nullptr);
  entries::ExtraReader reader(nullptr);  // a primitive without any
  EXPECT_EQ(entries::ReadMindSporeAttrs(op.def(), reader, arena)[0].type, 0);
}

TEST(MindSporeAttrs, WhatMindSporeThrowsPassesThrough) {
  FakeExtra extra;
  extra.String("v", "no number");
  EXPECT_EQ(Read("int", extra), "attribute v is of another type");
}

}  // namespace
}  // namespace opwright::test

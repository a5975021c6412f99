// SPDX-License-Identifier: Apache-2.0
#include "check/cases.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/text.h"
#include "check/case_list.h"
#include "library.h"
#include "metadef/metadef.h"

namespace opwright::check {
namespace {

struct Made {
  metadef::Lowered lowered;
  std::vector<Case> cases;
};

Made CasesOf(const std::string& metadef) {
  metadef::ReadResult read = metadef::Read(metadef, "op.json");
  EXPECT_FALSE(read.HasErrors());
  Expected<metadef::Lowered> lowered = metadef::Lower(read.operators[0], {});
  EXPECT_TRUE(lowered.ok());
  std::vector<Case> cases = MakeCases(lowered->def());
  return {std::move(*lowered), std::move(cases)};
}

bool Has(const std::vector<Case>& cases, const std::vector<Shape>& shapes) {
  return std::any_of(cases.begin(), cases.end(), [&](const Case& c) {
    for (size_t i = 0; i < shapes.size(); ++i)
      if (c.shapes[i].size() != 1 || c.shapes[i][0] != shapes[i]) return false;
    return true;
  });
}

TEST(Cases, BroadcastsInEveryWay) {
  const Made made = CasesOf(Metadef("op", {"x: -2", "y: -2"}, {"z: -2"}, "broadcast(x, y)"));
  const std::vector<std::vector<Shape>> due = {{{3, 5}, {3, 5}}, {{3, 5}, {5}},
                                               {{5}, {3, 5}},    {{3, 5}, {3, 1}},
                                               {{3, 5}, {1, 5}}, {{3, 5}, {}},
                                               {{}, {3, 5}},     {{3, 5}, {1}},
                                               {{3, 1}, {1, 5}}, {{1, 5}, {3, 1}},
                                               {{}, {}},         {{0, 3}, {3}},
                                               {{5, 2, 3}, {3}}, {{2, 3, 4, 5}, {2, 3, 4, 5}}};
  for (const auto& shapes : due)
    EXPECT_TRUE(Has(made.cases, shapes)) << CaseText(made.lowered.def(), 0, made.cases[0]);
}

// As the mask of an attention does, whatever its list says of its rank.
TEST(Cases, InputsBroadcastWithNamedDimensionsOfOthers) {
  const Shape x = {3, 5, 2, 7};
  const auto cases_of = [](const char* mask) {
    return CasesOf(Metadef("op", {"x: \"b\", \"h\", \"t\", \"s\"", mask},
                           {"y: \"b\", \"h\", \"t\", \"s\""}, "broadcast(x, m)"));
  };
  const Made any = cases_of("m: -2");
  for (const Shape& m : {x, Shape{7}, Shape{2, 7}, Shape{5, 1, 1}, Shape{3, 1, 2, 7},
                         Shape{1, 5, 1, 7}, Shape{3, 1, 1, 7}, Shape{}})
    EXPECT_TRUE(Has(any.cases, {x, m}));
  const Made four = cases_of("m: -1, -1, -1, -1");
  for (const Shape& m : {x, Shape{3, 1, 2, 7}, Shape{1, 5, 1, 7}, Shape{1, 1, 1, 1}})
    EXPECT_TRUE(Has(four.cases, {x, m}));
  const Made some = cases_of("m: \"b\", -1, -1, \"s\"");
  for (const Shape& m : {x, Shape{3, 1, 2, 7}, Shape{3, 5, 1, 7}, Shape{3, 1, 1, 7}})
    EXPECT_TRUE(Has(some.cases, {x, m}));
  const Made affine = CasesOf(Metadef("op", {"x: -2", "g: \"n\""}, {"y: -2"}, "broadcast(x, g)"));
  for (const Shape& shape : {Shape{3}, Shape{4, 3}, Shape{2, 4, 3}})
    EXPECT_TRUE(Has(affine.cases, {shape, {3}}));
}

TEST(Cases, AllUnknownDimensionsOfABroadcastAreEqual) {
  const Made made =
      CasesOf(Metadef("op", {"x: -1, -1", "y: -1, -1"}, {"z: -1, -1"}, "broadcast(x, y)"));
  EXPECT_TRUE(Has(made.cases, {{3, 3}, {3, 3}}));
}

TEST(Cases, EachAxisAloneIsOne) {
  const Made named = CasesOf(Metadef("op", {"x: \"b\", \"n\""}, {"y: \"b\", \"n\""}, "same(x)"));
  EXPECT_TRUE(Has(named.cases, {{1, 5}}));
  EXPECT_TRUE(Has(named.cases, {{3, 1}}));
  const Made unknown = CasesOf(Metadef("op", {"x: -1, -1"}, {"y: -1, -1"}, "same(x)"));
  EXPECT_TRUE(Has(unknown.cases, {{1, 5}}));
  EXPECT_TRUE(Has(unknown.cases, {{3, 1}}));
  const Made leading =
      CasesOf(Metadef("op", {"x: \"...\", \"n\""}, {"y: \"...\", \"n\""}, "same(x)"));
  EXPECT_TRUE(Has(leading.cases, {{1, 3}}));
}

TEST(Cases, AnAxisThatStandsTwiceMakesNoHugeTensor) {
  for (const char* param : {"x: \"n\", \"n\"", "x: \"n\", \"n\", \"n\""}) {
    const Made made = CasesOf(Metadef("op", {param}, {"y: \"n\""}, ""));
    for (const Case& c : made.cases) EXPECT_LE(LargestOf(c), 65536);
    EXPECT_TRUE(std::any_of(made.cases.begin(), made.cases.end(),
                            [](const Case& c) { return LargestOf(c) > 1000; }));
  }
}

TEST(Cases, EachSubsetOfTheAxesIsBroadcast) {
  const Made made = CasesOf(Metadef("op", {"x: -2", "y: -2"}, {"z: -2"}, "broadcast(x, y)"));
  const std::vector<std::vector<Shape>> due = {
      {{2, 3, 5}, {2, 1, 5}},       {{2, 3, 5}, {1, 3, 1}},       {{2, 3, 5}, {3, 1}},
      {{2, 3, 4, 5}, {2, 1, 4, 5}}, {{2, 3, 4, 5}, {1, 3, 1, 5}}, {{3, 4, 1}, {2, 3, 4, 5}}};
  for (const auto& shapes : due) EXPECT_TRUE(Has(made.cases, shapes));
}

TEST(Cases, ThreeInputsBroadcastEachInItsOwnWay) {
  const Made made =
      CasesOf(Metadef("op", {"x: -2", "b: -2", "s: -2"}, {"y: -2"}, "broadcast(x, b, s)"));
  EXPECT_TRUE(Has(made.cases, {{3, 5}, {5}, {3, 1}}));
  EXPECT_TRUE(Has(made.cases, {{5}, {3, 1}, {3, 5}}));
}

TEST(Cases, TheTensorsOfAListMayDifferInShape) {
  const auto has = [](const char* param, const std::vector<Shape>& list) {
    const Made made = CasesOf(Metadef("op", {param}, {"*ys: -2"}, "same(xs)"));
    return std::any_of(made.cases.begin(), made.cases.end(),
                       [&](const Case& c) { return c.shapes[0] == list; });
  };
  EXPECT_TRUE(has("*xs: -2", {{3, 5}, {5}, {2, 3, 5}}));
  EXPECT_TRUE(has("*xs: -1", {{5}, {3}, {2}}));
  EXPECT_TRUE(has("*xs: \"n\"", {{3}, {3}, {3}}));
}

TEST(Cases, NamedDimensionsAreDistinct) {
  const Made made = CasesOf(Metadef("op", {"x: \"n\", \"c\", \"h\", \"w\""},
                                    {"y: \"n\", \"c\", \"h\", \"w\""}, "same(x)"));
  Shape first = made.cases[0].shapes[0][0];
  std::sort(first.begin(), first.end());
  EXPECT_EQ(std::unique(first.begin(), first.end()), first.end());
}

TEST(Cases, LeadingDimensionsAreNoneToThree) {
  const Made made = CasesOf(Metadef("op", {"x: \"...\", \"n\""}, {"y: \"...\", \"n\""}, "same(x)"));
  for (const Shape& shape :
       {Shape{3}, Shape{2, 3}, Shape{4, 2, 3}, Shape{3, 2, 2, 3}, Shape{2, 0}, Shape{0, 3}})
    EXPECT_TRUE(Has(made.cases, {shape}));
}

TEST(Cases, LeadingDimensionsOfSeveralInputsDiffer) {
  const std::vector<std::string> inputs = {"x: \"...\", \"n\"", "b: \"...\", \"n\""};
  const Made made = CasesOf(Metadef("op", inputs, {"y: \"...\", \"n\""}, "same(x)"));
  EXPECT_TRUE(Has(made.cases, {{4, 2, 3}, {2, 3}}));
  EXPECT_TRUE(Has(made.cases, {{2, 3}, {4, 2, 3}}));
}

TEST(Cases, OptionalInputsAreGivenAndAbsent) {
  const Made made = CasesOf(Metadef("op", {"x: -2", "?bias: -2"}, {"y: -2"}, "same(x)"));
  EXPECT_TRUE(std::any_of(made.cases.begin(), made.cases.end(),
                          [](const Case& c) { return c.shapes[1].empty(); }));
}

TEST(Cases, EachOfSeveralOptionalInputsIsGivenAloneAndAbsentAlone) {
  const Made made =
      CasesOf(Metadef("op", {"x: -2", "?a: -2", "?b: -2", "?c: -2"}, {"y: -2"}, "same(x)"));
  for (const std::vector<size_t>& given :
       {std::vector<size_t>{1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 1, 1}, {1, 0, 1}, {1, 1, 0}})
    EXPECT_TRUE(std::any_of(made.cases.begin(), made.cases.end(), [&](const Case& c) {
      return c.shapes[1].size() == given[0] && c.shapes[2].size() == given[1] &&
             c.shapes[3].size() == given[2];
    }));
}

TEST(Cases, UnknownDimensionsAreEqualAsInProductsOfMatrices) {
  const Made made = CasesOf(Metadef("op", {"a: -1, -1", "b: -1, -1"}, {"y: -1, -1"}, "same(a)"));
  const std::vector<std::vector<Shape>> due = {
      {{3, 3}, {3, 3}}, {{5, 3}, {3, 2}}, {{3, 5}, {2, 3}}, {{5, 3}, {5, 2}}, {{3, 5}, {2, 5}}};
  for (const auto& shapes : due) EXPECT_TRUE(Has(made.cases, shapes));
}

TEST(Cases, DimensionsAreMultiplesOfAnIntAttribute) {
  const std::string metadef =
      Metadef("op", {"x: \"n\", \"c\", \"h\""}, {"y: \"n\", \"c\", \"h\""}, "same(x)");
  const Made made =
      CasesOf(WithFields(metadef, StrCat(R"(, "attr": [{"name": "groups", "type": "int",)",
                                         R"("param_type": "optional", "default_value": 32}])")));
  EXPECT_TRUE(Has(made.cases, {{3, 64, 2}}));
  EXPECT_TRUE(Has(made.cases, {{64, 5, 2}}));
}

TEST(Cases, UnknownDimensionsBesideANamedOneAreLongToo) {
  for (const std::string before : {"-1, ", "-1, -1, "}) {
    const std::string dims = before + "\"n\"";
    const Made made = CasesOf(Metadef("op", {"x: " + dims}, {"y: " + dims}, "same(x)"));
    const bool two = before.size() == 4;
    EXPECT_TRUE(Has(made.cases, {two ? Shape{2053, 2} : Shape{2, 2053, 2}}));
    EXPECT_TRUE(Has(made.cases, {two ? Shape{2, 2053} : Shape{2, 2, 2053}}));
    EXPECT_EQ(Has(made.cases, {{2053, 2, 2}}), !two);
    for (const Case& c : made.cases) {
      const Shape& shape = c.shapes[0][0];
      EXPECT_LT(std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>()), 10000)
          << CaseText(made.lowered.def(), 0, c);
    }
  }
}

TEST(Cases, FixedDimensionsStay) {
  const Made made = CasesOf(Metadef("op", {"x: -1, 3"}, {"y: -1, 3"}, "same(x)"));
  for (const Case& c : made.cases) EXPECT_EQ(c.shapes[0][0][1], 3);
}

TEST(Cases, TextNamesShapesDtypesAndValues) {
  const Made made = CasesOf(Metadef("op", {"x: -2"}, {"y: -2"}, "same(x)"));
  Case c = made.cases[0];
  EXPECT_EQ(CaseText(made.lowered.def(), 0, c), "x[3, 5] float64");
  c.values = Values::kZeros;
  EXPECT_EQ(CaseText(made.lowered.def(), 0, c), "x[3, 5] float64; zeros");
}

}  // namespace
}  // namespace opwright::check

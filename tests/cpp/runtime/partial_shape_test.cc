// SPDX-License-Identifier: Apache-2.0
//
// Shapes while dimensions are unknown. Where all is known they are the dispatcher's; where a
// dimension is hidden, what is still said must be right.
#include "runtime/partial_shape.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "metadef/testing.h"
#include "support/test_op.h"

namespace opwright::test {
namespace {

using metadef::Float;

constexpr const char* kAttrs =
    R"(, "attr": [{"name": "a", "type": "int", "param_type": "optional", "default_value": 7}])";

PartialShape Partial(const std::string& x, const std::string& y, const std::string& rule,
                     const std::vector<PartialShape>& shapes) {
  TestOp op(metadef::Op(Float("x", x) + ", " + Float("y", y), Float("z"),
                        StrCat(kAttrs, ", \"shape_rule\": ", rule), "f"));
  const OpwrightAttr none = {};
  return InferPartialShapes(op.def(), shapes, &none)[0];
}

PartialShape Same(const std::vector<PartialShape>& shapes) {
  return Partial("[-2]", "[-2]", "\"same(x, y)\"", shapes);
}
PartialShape Broadcast(const std::vector<PartialShape>& shapes) {
  return Partial("[-2]", "[-2]", "\"broadcast(x, y)\"", shapes);
}
PartialShape ByDims(const std::string& dims, const std::vector<PartialShape>& shapes) {
  return Partial(R"(["...", "n"])", R"(["n", "m"])", dims, shapes);
}

TEST(PartialShape, EqualShapesTellEachOther) {
  EXPECT_EQ(Same({{-1, 3}, {2, -1}}), (PartialShape{2, 3}));
  EXPECT_EQ(Same({{-2}, {2, -1}}), (PartialShape{2, -1}));
  EXPECT_EQ(Same({{-2}, {-2}}), (PartialShape{-2}));
  EXPECT_EQ(Same({{}, {}}), PartialShape{});
}

TEST(PartialShape, BroadcastingKeepsWhatNeitherCanChange) {
  EXPECT_EQ(Broadcast({{4, -1}, {3}}), (PartialShape{4, 3}));
  EXPECT_EQ(Broadcast({{-1}, {1}}), (PartialShape{-1}));
  EXPECT_EQ(Broadcast({{-1}, {-1}}), (PartialShape{-1}));
  EXPECT_EQ(Broadcast({{1, 5}, {-1, 1, 1}}), (PartialShape{-1, 1, 5}));
  EXPECT_EQ(Broadcast({{-2}, {3}}), (PartialShape{-2}));
}

TEST(PartialShape, ProgramsAreComputedAsFarAsTheirNumbersAreKnown) {
  EXPECT_EQ(ByDims(R"j(["...", "m", "n * 2"])j", {{2, 3}, {3, 4}}), (PartialShape{2, 4, 6}));
  EXPECT_EQ(ByDims(R"j(["...", "m", "n * 2"])j", {{-1, 3}, {-1, -1}}), (PartialShape{-1, -1, 6}));
  EXPECT_EQ(ByDims(R"j(["n", "a"])j", {{-2}, {5, 4}}), (PartialShape{5, 7}));
  EXPECT_EQ(ByDims(R"j(["...", "m"])j", {{-2}, {5, 4}}), (PartialShape{-2}));
  EXPECT_EQ(ByDims(R"j(["x.rank", "x.dim(-1)", "ceil_div(n, 2)"])j", {{-1, 5}, {5, 4}}),
            (PartialShape{2, 5, 3}));
  EXPECT_EQ(ByDims(R"j(["m // (n - n)"])j", {{1, 5}, {5, 4}}), (PartialShape{-1}));
}

TEST(PartialShape, DotsAreThoseOfTheInputThatTheDispatcherTakes) {
  const auto dots = [](const char* x, const char* y, const std::vector<PartialShape>& shapes) {
    return Partial(x, y, R"j(["...", 4])j", shapes);
  };
  const char* const any = R"(["..."])";
  const char* const before_n = R"(["...", "n"])";
  EXPECT_EQ(dots(any, "[-1]", {{2, -1}, {3}}), (PartialShape{2, -1, 4}));
  EXPECT_EQ(dots("[-2]", any, {{2}, {3}}), (PartialShape{2, 4}));
  EXPECT_EQ(dots("[-2]", any, {{-2}, {3}}), (PartialShape{-2}));
  EXPECT_EQ(dots(any, before_n, {{2}, {3, 5}}), (PartialShape{3, 4}));
  EXPECT_EQ(dots(any, before_n, {{2}, {-2}}), (PartialShape{-2}));
  EXPECT_EQ(dots(before_n, R"(["...", "m"])", {{-2}, {3, 5}}), (PartialShape{-2}));
}

TEST(PartialShape, WhatCannotBeADimensionIsUnknown) {
  for (const int64_t n : {1, 2, 3, 4})  // [-3] and [-2] would have meanings of their own
    EXPECT_EQ(ByDims(R"j(["n - 5"])j", {{1, n}, {n, 4}}), (PartialShape{-1}));
  EXPECT_EQ(ByDims(R"j(["n - 5", "m"])j", {{1, 3}, {3, 4}}), (PartialShape{-1, 4}));
  EXPECT_EQ(ByDims(R"j(["n - 5"])j", {{1, 7}, {7, 4}}), (PartialShape{2}));
  EXPECT_EQ(ByDims(R"j(["n - 5 + 9"])j", {{1, 3}, {3, 4}}), (PartialShape{7}));
  EXPECT_EQ(ByDims(R"j(["-n"])j", {{1, 2}, {2, 4}}), (PartialShape{-1}));
  EXPECT_EQ(ByDims(R"j(["n * 4611686018427387904"])j", {{1, 3}, {3, 4}}), (PartialShape{-1}));
}

TEST(PartialShape, IsTheDispatchersWhereAllIsKnown) {
  for (const Dims& x : {Dims{2, 3}, Dims{5, 1, 3}}) {
    const std::string rule = R"j(["...", "m", "max(n, 4) - min(n, 2) + n % 2"])j";
    TestOp op(metadef::Op(Float("x", R"(["...", "n"])") + ", " + Float("y", R"(["n", "m"])"),
                          Float("z"), StrCat(kAttrs, ", \"shape_rule\": ", rule), "f"));
    Tensor first(kF32, x), second(kF32, {3, 4});
    const OpwrightAttr none = {};
    const PartialShape shape = InferPartialShapes(op.def(), {x, {3, 4}}, &none)[0];
    std::string text = "float32[";
    for (size_t k = 0; k < shape.size(); ++k) text += StrCat(k > 0 ? ", " : "", shape[k]);
    EXPECT_EQ(op.Infer({first, second}), text + "]");
  }
}

}  // namespace
}  // namespace opwright::test

// SPDX-License-Identifier: Apache-2.0
//
// InferShape as MindSpore calls it: arrays without a count, and a C++ vector handed back.
#include "entries/mindspore/shapes.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "entries/aot.h"
#include "metadef/testing.h"
#include "support/test_op.h"

namespace opwright::test {
namespace {

using metadef::Float;
using Shapes = std::vector<Dims>;

constexpr const char* kOptional = R"(, "param_type": "optional")";

opwright::Status InferKnown(void* context, const OpwrightArgument* inputs,
                            const OpwrightAttr* attrs, InferredOutput* result, Arena& arena) {
  const auto& def = *static_cast<const OpwrightOpDef*>(context);
  OpwrightKernel kernel = {};
  OpwrightOperatorEntry entry = {};
  entry.kernel = &kernel;
  Launch launch;
  launch.entry = &entry;
  launch.def = &def;
  launch.inputs = inputs;
  launch.num_inputs = def.num_inputs;
  launch.attrs = attrs;
  launch.num_attrs = def.num_attrs;
  return Infer(launch, result, arena);
}

// num_given: -1 for those that are surely there.
OpwrightVector Handed(const OpwrightOpDef& def, const Shapes& shapes, FakeExtra& extra,
                      int32_t num_given = -1) {
  Row row = Row::OfShapes(shapes);
  return entries::InferForMindSpore(
      def, num_given < 0 ? entries::NumInputsSurelyGiven(def) : num_given, row.ndims(),
      row.shapes(), extra.get(), &InferKnown, const_cast<OpwrightOpDef*>(&def));
}
Dims Inferred(const TestOp& op, const Shapes& shapes, int32_t num_given = -1) {
  FakeExtra extra;
  return Taken<Dims>(Handed(op.def(), shapes, extra, num_given));
}
std::string InferError(const TestOp& op, const Shapes& shapes, int32_t num_given = -1) {
  return Thrown([&] { Inferred(op, shapes, num_given); });
}

// Two inputs, the second of a kind.
std::string TwoInputs(std::string_view kind, std::string_view rule) {
  return metadef::Op(Float("x") + ", " + Float("y", "[-2]", kind), Float("z"),
                     StrCat(R"(, "shape_rule": )", rule), "f");
}

TEST(MindSporeShapes, AnOptionalInputAtTheEndIsNotRead) {
  TestOp same(TwoInputs(kOptional, R"j("same(x)")j"));
  EXPECT_EQ(entries::NumInputsSurelyGiven(same.def()), 1);
  EXPECT_EQ(Inferred(same, {{2, 3}}), (Dims{2, 3}));
  EXPECT_EQ(Inferred(same, {{-1, 3}}), (Dims{-1, 3}));
  TestOp both(TwoInputs(kOptional, R"j("same(x, y)")j"));
  EXPECT_EQ(Inferred(both, {{2, 3}}), (Dims{2, 3}));
}

TEST(MindSporeShapes, AShapeThatMayDependOnWhatMayBeAbsentIsRefusedInWords) {
  TestOp broadcast(TwoInputs(kOptional, R"j("broadcast(x, y)")j"));
  EXPECT_EQ(Inferred(broadcast, {{-1, 3}}), Dims{-2});
  EXPECT_EQ(InferError(broadcast, {{2, 3}}),
            "f: MindSpore does not say whether the optional input y is there, and the output's "
            "shape depends on it: give out_shape, or call the operator through "
            "opwright.mindspore [CL005]");
  TestOp dims(TwoInputs(kOptional, R"j(["y.dim(0)"])j"));
  EXPECT_EQ(InferError(dims, {{2, 3}}),
            "f: the shape of output z by [\"y.dim(0)\"]: input y is absent [CL005]");
}

TEST(MindSporeShapes, OptionalInputsThatAreCountedAreRead) {
  TestOp broadcast(TwoInputs(kOptional, R"j("broadcast(x, y)")j"));
  EXPECT_EQ(Inferred(broadcast, {{2, 1}, {3}}, 2), (Dims{2, 3}));
  // An optional input before a required one is there, as all are that MindSpore infers with.
  TestOp middle(metadef::Op(Float("x", "[-2]", kOptional) + ", " + Float("y"), Float("z"),
                            R"j(, "shape_rule": "broadcast(x, y)")j", "f"));
  EXPECT_EQ(Inferred(middle, {{2, 1}, {3}}), (Dims{2, 3}));
}

TEST(MindSporeShapes, OneOutputIsAVectorOfDimensions) {
  TestOp op(TwoInputs("", R"j("broadcast(x, y)")j"));
  EXPECT_EQ(Inferred(op, {{2, 1}, {3}}), (Dims{2, 3}));
  EXPECT_EQ(Inferred(op, {{}, {}}), Dims{});
  EXPECT_EQ(Inferred(op, {{-1, 1}, {3}}), (Dims{-1, 3}));
  EXPECT_EQ(Inferred(op, {{-2}, {3}}), Dims{-2});
}

TEST(MindSporeShapes, SeveralOutputsAreAVectorOfShapes) {
  TestOp op(metadef::Op(Float("x", R"(["n", "m"])"), Float("a") + ", " + Float("b"),
                        R"j(, "shape_rule": {"a": ["n"], "b": ["m", "n * 2"]})j", "f"));
  FakeExtra extra;
  EXPECT_EQ(Taken<Shapes>(Handed(op.def(), {{2, 3}}, extra)), (Shapes{{2}, {3, 4}}));
  EXPECT_EQ(Taken<Shapes>(Handed(op.def(), {{-1, 3}}, extra)), (Shapes{{-1}, {3, -1}}));
}

TEST(MindSporeShapes, AttributesOfThePrimitiveCount) {
  TestOp op(metadef::Op(
      Float("x"), Float("z"),
      R"(, "attr": [{"name": "k", "type": "int", "param_type": "required"}], "shape_rule": ["k"])",
      "f"));
  FakeExtra extra;
  extra.Int("k", 5);
  EXPECT_EQ(Taken<Dims>(Handed(op.def(), {{2}}, extra)), Dims{5});
  EXPECT_EQ(Taken<Dims>(Handed(op.def(), {{-1}}, extra)), Dims{5});
}

TEST(MindSporeShapes, ErrorsAreThrownWithTheirId) {
  TestOp op(TwoInputs("", R"j("same(x, y)")j"));
  EXPECT_EQ(InferError(op, {{2}, {3}}),
            "f: the shape of output z by same(x, y): inputs x [2] and y [3] must have equal "
            "shapes; if the kernel takes others, say which in the metadef: a name for each "
            "dimension, or \"broadcast(...)\", which expands them for it [CL005]");
  TestOp list(TwoInputs(R"(, "param_type": "dynamic")", R"j("same(x)")j"));
  EXPECT_EQ(InferError(list, {{2}, {3}}),
            "f: input y is a list; MindSpore cannot infer shapes with it: give out_shape [CL005]");
}

}  // namespace
}  // namespace opwright::test

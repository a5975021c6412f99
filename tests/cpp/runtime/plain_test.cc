// SPDX-License-Identifier: Apache-2.0
//
// Which calls go the short way, and that every other one goes the long way with the same result.
#include "runtime/plain.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "metadef/testing.h"
#include "support/test_op.h"

namespace opwright::test {
namespace {

using metadef::Float;
using metadef::Param1;

constexpr const char* kTwoColumns = R"(["float32", "float64"])";

std::string Add(std::string_view more = R"j(, "shape_rule": "same(x, y)")j",
                std::string_view list = "[-2]") {
  return metadef::Op(Param1("x", kTwoColumns, list) + ", " + Param1("y", kTwoColumns, list),
                     Param1("z", kTwoColumns, list), more, "add");
}

constexpr int32_t kLong = -1;

// The column of a call on the short way; kLong for one on the long way.
int32_t Column(const std::string& metadef, Arg x, Arg y, Arg z, bool takes_expanded = false) {
  TestOp op(metadef);
  OpwrightKernel kernel = {};
  kernel.takes_expanded = takes_expanded ? 1 : 0;
  OpwrightOperatorEntry entry = {};
  entry.kernel = &kernel;
  std::vector<OpwrightArgument> inputs = {x.raw(), y.raw()};
  OpwrightArgument output = z.raw();
  Launch launch;
  launch.entry = &entry;
  launch.def = &op.def();
  launch.inputs = inputs.data();
  launch.num_inputs = 2;
  launch.outputs = &output;
  launch.num_outputs = 1;
  Arena arena(nullptr);
  Plan plan;
  const bool plain = MakePlainPlan(launch, arena, &plan) && AreOutputsPlain(launch, plan);
  return plain ? plan.column : kLong;
}

TEST(PlainCall, TakesDenseTensorsOfAColumn) {
  for (const Dims& shape : {Dims{}, {1}, {8}, {2, 3}, {2, 1, 3}}) {
    Tensor x(kF32, shape), y(kF32, shape), z(kF32, shape);
    EXPECT_EQ(Column(Add(), x, y, z), 0);
    EXPECT_EQ(Column(Add(R"j(, "shape_rule": "broadcast(x, y)")j"), x, y, z), 0);
    Tensor a(kF64, shape), b(kF64, shape), c(kF64, shape);
    EXPECT_EQ(Column(Add(), a, b, c), 1);
  }
  Tensor x(kF32, {2, 3}), y(kF32, {2, 3}), z(kF32, {2, 3});
  EXPECT_EQ(Column(Add(R"j(, "shape_rule": "same(x, y)")j", "[-1, -1]"), x, y, z), 0);
  EXPECT_EQ(Column(Add(R"j(, "shape_rule": "same(x, y)")j", R"(["...", -1])"), x, y, z), 0);
}

TEST(PlainCall, LeavesEverythingElseToTheLongWay) {
  const std::string add = Add();
  Tensor x(kF32, {2, 2}), y(kF32, {2, 2}), z(kF32, {2, 2});
  ASSERT_EQ(Column(add, x, y, z), 0);
  Tensor doubles(kF64, {2, 2}), ints(kI32, {2, 2}), flat(kF32, {4}), empty(kF32, {0}),
      row(kF32, {1, 2});
  Tensor transposed = Tensor::Strided(kF32, {2, 2}, {1, 2}, 0, 4);
  Tensor bare(kF32, {2, 2}), moved(kF32, {2, 2});
  bare.WithoutStrides();
  moved.Misalign(1);
  EXPECT_EQ(Column(add, x, doubles, z), -1) << "mixed";
  EXPECT_EQ(Column(add, ints, ints, ints), -1) << "no column";
  EXPECT_EQ(Column(add, x, y, doubles), -1) << "another dtype of the output";
  EXPECT_EQ(Column(add, x, flat, z), -1) << "another rank";
  EXPECT_EQ(Column(add, x, row, z), -1) << "another size";
  EXPECT_EQ(Column(add, x, y, flat), -1) << "another shape of the output";
  EXPECT_EQ(Column(add, empty, empty, empty), -1) << "empty";
  EXPECT_EQ(Column(add, transposed, y, z), -1) << "strides";
  EXPECT_EQ(Column(add, x, y, transposed), -1) << "strides of the output";
  EXPECT_EQ(Column(add, bare, y, z), -1) << "no strides, which the kernel must have";
  EXPECT_EQ(Column(add, moved, y, z), -1) << "alignment";
  EXPECT_EQ(Column(add, x, y, x), -1) << "an output in an input's memory";
  EXPECT_EQ(Column(add, x, Arg(), z), -1) << "absent";
  EXPECT_EQ(Column(add, x, Arg{&y, &y}, z), -1) << "a list";
  EXPECT_EQ(Column(add, x, y, Arg()), -1) << "no output";
  OpwrightTensor other_device = x.raw();
  other_device.device_type = 2;
  EXPECT_EQ(Column(add, Arg(other_device), y, z), -1) << "another device";
  EXPECT_EQ(Column(Add(R"j(, "shape_rule": "same(x, y)", "mutates": ["x"])j"), x, y, z), -1)
      << "a written input";
}

constexpr const char* kRows = R"(["...", "n"])";
constexpr const char* kRow = R"(["n"])";

std::string AddRow(std::string_view rule = R"j(, "shape_rule": "same(x)")j") {
  return metadef::Op(Param1("x", kTwoColumns, kRows) + ", " + Param1("y", kTwoColumns, kRow),
                     Param1("z", kTwoColumns, kRows), rule, "add");
}

TEST(PlainCall, ComparesNamedAndFixedDimensions) {
  Tensor x(kF32, {4, 3}), y(kF32, {3}), z(kF32, {4, 3}), longer(kF32, {4}), turned(kF32, {3, 4});
  Tensor same_as_x(kF32, {4, 3}), row(kF32, {3}), scalar(kF32, {});
  EXPECT_EQ(Column(AddRow(), x, y, z), 0);
  EXPECT_EQ(Column(AddRow(), y, y, row), 0) << "no leading dimensions";
  EXPECT_EQ(Column(AddRow(), x, longer, z), kLong) << "n is 3";
  EXPECT_EQ(Column(AddRow(), x, y, turned), kLong) << "another shape of the output";
  EXPECT_EQ(Column(AddRow(), scalar, y, z), kLong) << "no dimension for n";
  const char* const same = R"j(, "shape_rule": "same(x, y)")j";
  EXPECT_EQ(Column(Add(same, R"(["m", "n"])"), x, same_as_x, z), 0);
  EXPECT_EQ(Column(Add(same, "[4, 3]"), x, same_as_x, z), 0);
  EXPECT_EQ(Column(Add(same, "[4, 4]"), x, same_as_x, z), kLong);
}

TEST(PlainCall, FollowsRulesWithDimsAndBroadcasts) {
  Tensor x(kF32, {4, 3}), y(kF32, {3}), z(kF32, {4, 3}), longer(kF32, {8, 3});
  Tensor same_as_x(kF32, {4, 3});
  EXPECT_EQ(Column(AddRow(R"j(, "shape_rule": ["...", "n"])j"), x, y, z), 0);
  EXPECT_EQ(Column(AddRow(R"j(, "shape_rule": ["2 * x.dim(0)", "n"])j"), x, y, longer), 0);
  Tensor turned(kF32, {3, 4});
  EXPECT_EQ(Column(AddRow(R"j(, "shape_rule": ["n", "x.dim(0)"])j"), x, y, turned), kLong)
      << "the output's list says that n comes last";
  EXPECT_EQ(Column(AddRow(R"j(, "shape_rule": ["x.dim(2)"])j"), x, y, turned), kLong)
      << "the long way has the words";
  const std::string broadcast = AddRow(R"j(, "shape_rule": "broadcast(x, y)")j");
  EXPECT_EQ(Column(broadcast, x, y, z), 0);
  EXPECT_EQ(Column(broadcast, x, y, z, true), kLong) << "the kernel is to see y expanded";
  EXPECT_EQ(Column(Add(), x, same_as_x, z, true), 0) << "nothing to expand";
}

TEST(PlainCall, FillsAttributesIn) {
  const std::string metadef =
      Add(R"j(, "attr": [{"name": "a", "type": "int", "param_type": "optional",
                          "default_value": 7}], "shape_rule": "same(x)")j");
  int64_t seen = 0;
  TestOp op(metadef, [&](const OpwrightCall& call) { seen = call.attrs[0].value.i; });
  Tensor x(kF32, {2}), y(kF32, {2}), z(kF32, {2});
  EXPECT_EQ(Column(metadef, x, y, z), 0);
  EXPECT_EQ(op.Run({x, y}, {z}), "");
  EXPECT_EQ(seen, 7);
  EXPECT_EQ(op.Run({x, y}, {z}, {IntAttr(5)}), "");
  EXPECT_EQ(seen, 5);
  EXPECT_EQ(op.Run({x, y}, {z}, {FloatAttr(5)}),
            "add: attribute a is int in the metadef, float was given [CL006]");
}

}  // namespace
}  // namespace opwright::test

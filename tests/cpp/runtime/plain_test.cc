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

// The column of the short way; -1 for the long one.
int32_t Column(const std::string& metadef, Arg x, Arg y, Arg z) {
  TestOp op(metadef);
  const OpwrightKernel kernel = {};
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
  return PlainColumn(launch);
}

TEST(PlainColumn, IsThatOfDenseTensorsOfOneShape) {
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

TEST(PlainColumn, LeavesEverythingElseToTheLongWay) {
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
  EXPECT_EQ(Column(Add(R"j(, "shape_rule": "same(x, y)")j", R"(["m", "n"])"), x, y, z), -1)
      << "names to compare";
  EXPECT_EQ(Column(Add(R"j(, "shape_rule": "same(x, y)")j", "[2, 2]"), x, y, z), -1)
      << "fixed dimensions";
  EXPECT_EQ(Column(Add(R"j(, "shape_rule": "same(x, y)", "mutates": ["x"])j"), x, y, z), -1)
      << "a written input";
  EXPECT_EQ(Column(Add(R"j(, "shape_rule": ["x.dim(0)", 2])j"), x, y, z), -1)
      << "a rule with expressions";
}

// Most calls leave the outputs to the dispatcher: they must not pay for a look at the inputs.
TEST(PlainColumn, LooksAtTheOutputsFirst) {
  TestOp op(Add());
  const OpwrightKernel kernel = {};
  OpwrightOperatorEntry entry = {};
  entry.kernel = &kernel;
  OpwrightArgument output = Arg().raw();
  Launch launch;
  launch.entry = &entry;
  launch.def = &op.def();
  launch.inputs = nullptr;  // a look would crash
  launch.num_inputs = 2;
  launch.outputs = &output;
  launch.num_outputs = 1;
  EXPECT_EQ(PlainColumn(launch), -1);
}

}  // namespace
}  // namespace opwright::test

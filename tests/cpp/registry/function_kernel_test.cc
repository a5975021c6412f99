// SPDX-License-Identifier: Apache-2.0
//
// Kernels written as functions over views.
#include <gtest/gtest.h>

#include "registry/kernels.h"

namespace opwright::test {
namespace {

constexpr const char* kSource = R"cpp(
#include <opwright/kernel.h>

  using opwright::Status;
  using opwright::View;
  using opwright::ViewList;

  // One template for every column; broadcast inputs have stride 0 where they repeat.
  template <class T>
  void AddOf(View<const T> x, View<const T> y, View<T> z) {
    for (int64_t i = 0; i < z.Dim(0); ++i)
      for (int64_t j = 0; j < z.Dim(1); ++j) z(i, j) = static_cast<T>(x(i, j) + y(i, j));
  }
  OPWRIGHT_FUNCTION(broadcast_add, AddOf)

  void StridesOf(View<const float> x, View<const float> y, View<float> z, View<int64_t> strides) {
    for (int32_t k = 0; k < 2; ++k) strides(k) = y.Stride(k);
    strides(2) = x.Rank() * 10 + y.Rank();
    for (int64_t i = 0; i < z.Size(); ++i) z.Data()[i] = 0;
  }
  OPWRIGHT_FUNCTION(strides_of, StridesOf)

  Status Checked(View<const float> x, View<float> z, double limit, bool loud, const char* word,
                 opwright::List<int64_t> steps) {
    if (x(0) > limit)
      return Status::Error("%g is above %g%s (%s)", static_cast<double>(x(0)), limit,
                           loud ? ", loudly" : "", word);
    z(0) = x(0) + static_cast<float>(steps.Size());
    return opwright::SUCCESS;
  }
  OPWRIGHT_FUNCTION(checked, Checked)

  namespace deep {
  void Sum(ViewList<const double> xs, View<const double> bias, View<double> z, View<double> count) {
    z(0) = bias ? bias(0) : 0.0;
    for (int64_t k = 0; k < xs.Size(); ++k) z(0) += xs[k](0);
    if (count) count(0) = static_cast<double>(xs.Size());
  }
  OPWRIGHT_FUNCTION(sum_all, Sum)
  }  // namespace deep

  template <class T>
  void ScalarOf(View<const T> x, View<T> z) {
    z() = static_cast<T>(x() * 2);
  }
  OPWRIGHT_FUNCTION(scalar_twice, ScalarOf)

  // Each output is the sum of what the kernel sees of x and of the input beside it.
  void TwoOf(View<const float> x, View<const float> y, View<const float> w, View<float> u,
             View<float> v) {
    for (int64_t i = 0; i < u.Dim(0); ++i) u(i) = x(i) + y(i);
    if (v)
      for (int64_t i = 0; i < v.Dim(0); ++i) v(i) = x(i) + w(i);
  }
  OPWRIGHT_FUNCTION(two_rules, TwoOf)

  void AddInto(View<const float> x, View<float> y, View<float> z) {
    for (int64_t i = 0; i < z.Dim(0); ++i) z(i) = y(i) += x(i);
  }
  OPWRIGHT_FUNCTION(add_into, AddInto)
)cpp";

class FunctionKernel : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string floats = R"(["float32", "float64", "float16", "bfloat16", "int32", "uint8"])";
    const std::string optional = R"(, "param_type": "optional")";
    const std::string doubles = R"(["float64"])";
    library_ = LoadOrFail(BuildLibrary(
        Operators(
            {Op(Param1("x", floats, "[-2]") + ", " + Param1("y", floats, "[-2]"),
                Param1("z", floats, "[-1, -1]"), R"j(, "shape_rule": "broadcast(x, y)")j",
                "broadcast_add"),
             Op(Float("x") + ", " + Float("y"),
                Float("z") + ", " + Param1("strides", R"(["int64"])", "[3]"),
                R"j(, "shape_rule": {"z": "broadcast(x, y)", "strides": [3]})j", "strides_of"),
             Op(Float("x", "[1]"), Float("z", "[1]"),
                StrCat(
                    R"(, "attr": [{"name": "limit", "type": "float"}, {"name": "loud", "type": "bool"},)",
                    Attribute("word", "string", "\"dflt\""), ",",
                    Attribute("steps", "list_int", "[1, 2]"), "]"),
                "checked"),
             Op(Param1("xs", doubles, "[1]", R"(, "param_type": "dynamic")") + ", " +
                    Param1("bias", doubles, "[1]", optional),
                Param1("z", doubles, "[1]") + ", " + Param1("count", doubles, "[1]", optional),
                R"(, "shape_rule": [1])", "sum_all"),
             Op(Param1("x", floats, "[]"), Param1("z", floats, "[]"), "", "scalar_twice"),
             Op(StrCat(Float("x"), ", ", Float("y"), ", ", Float("w")),
                Float("u") + ", " + Float("v", "[-2]", optional),
                R"j(, "shape_rule": {"u": "broadcast(x, y)", "v": "broadcast(x, w)"})j",
                "two_rules"),
             Op(Float("x") + ", " + Float("y"), Float("z"),
                R"j(, "mutates": ["y"], "shape_rule": "broadcast(x, y)")j", "add_into")}),
        kSource));
  }
  static std::shared_ptr<Library> library_;
};
std::shared_ptr<Library> FunctionKernel::library_;

TEST_F(FunctionKernel, OfATemplateRunsEveryColumn) {
  const auto op = FindOrFail(*library_, "broadcast_add");
  for (const OpwrightDType dtype : {kF32, kF64, kF16, kBf16, kI32, kU8}) {
    Tensor x(dtype, {2, 3}), y(dtype, {3}, {10, 20, 30}), z(dtype, {2, 3});
    EXPECT_EQ(Call(*op, {x, y}, {z}), "");
    EXPECT_EQ(z.Values(), (std::vector<double>{11, 22, 33, 14, 25, 36}));
  }
}

TEST_F(FunctionKernel, SeesEveryBroadcastPattern) {
  const auto op = FindOrFail(*library_, "broadcast_add");
  Tensor column(kF32, {2, 1}, {100, 200}), row(kF32, {1, 3}), scalar(kF32, {}, {7}),
      matrix(kF32, {2, 3}), z(kF32, {2, 3});
  EXPECT_EQ(Call(*op, {column, row}, {z}), "");
  EXPECT_EQ(z.Values(), (std::vector<double>{101, 102, 103, 201, 202, 203}));
  EXPECT_EQ(Call(*op, {scalar, matrix}, {z}), "");
  EXPECT_EQ(z.Values(), (std::vector<double>{8, 9, 10, 11, 12, 13}));
  Tensor transposed = Tensor::Strided(kF32, {2, 3}, {1, 2}, 0, 6);
  EXPECT_EQ(Call(*op, {transposed, column}, {z}), "");
  EXPECT_EQ(z.Values(), (std::vector<double>{101, 103, 105, 202, 204, 206}));
}

TEST_F(FunctionKernel, GetsExpandedInputsWithStrideZero) {
  const auto op = FindOrFail(*library_, "strides_of");
  Tensor x(kF32, {2, 3}), y(kF32, {2, 1}), z(kF32, {2, 3}), strides(kI64, {3});
  EXPECT_EQ(Call(*op, {x, y}, {z, strides}), "");
  EXPECT_EQ(strides.Values(), (std::vector<double>{1, 0, 22}));
}

TEST_F(FunctionKernel, SeesAnInputOfTwoRulesInTheOneShapeThatBothGive) {
  const auto op = FindOrFail(*library_, "two_rules");
  Tensor one(kF32, {1}, {10}), four(kF32, {4}), u(kF32, {4}), v(kF32, {4});
  EXPECT_EQ(Call(*op, {one, four, four}, {u, v}), "");
  EXPECT_EQ(u.Values(), (std::vector<double>{11, 12, 13, 14}));
  EXPECT_EQ(v.Values(), (std::vector<double>{11, 12, 13, 14}));
  // Both outputs, of any order of their shapes.
  Tensor seven(kF32, {7}), long_v(kF32, {7}), long_u(kF32, {7});
  EXPECT_EQ(Call(*op, {one, four, seven}, {u, long_v}),
            "two_rules: input x is expanded to [4] for output u and to [7] for output v, and a "
            "function kernel sees it in one shape: name all inputs of both in each broadcast(...), "
            "or write a class kernel [CL005]");
  EXPECT_NE(Call(*op, {one, seven, four}, {long_u, v}).find("[7] for output u and to [4]"),
            std::string::npos);
  Tensor short_u(kF32, {1});
  EXPECT_NE(Call(*op, {one, one, four}, {short_u, v}).find("[1] for output u and to [4]"),
            std::string::npos);
  // An output that is not wanted asks for nothing.
  EXPECT_EQ(Call(*op, {one, four, seven}, {u, Arg()}), "");
  EXPECT_EQ(u.Values(), (std::vector<double>{11, 12, 13, 14}));
}

TEST_F(FunctionKernel, NeverWritesAnInputThatIsExpanded) {
  const auto op = FindOrFail(*library_, "add_into");
  Tensor x(kF32, {3}), y = Tensor::Strided(kF32, {3}, {2}, 0, 6), z(kF32, {3});
  EXPECT_EQ(Call(*op, {x, y}, {z}), "");
  EXPECT_EQ(y.Values(), z.Values());
  Tensor one = Tensor::Strided(kF32, {1}, {2}, 0, 2);
  EXPECT_EQ(Call(*op, {x, one}, {z}),
            "add_into: input y is written by the operator and has shape [1], not that of output z "
            "[3] [CL008]");
}

TEST_F(FunctionKernel, ReturnsItsStatusWithItsWords) {
  const auto op = FindOrFail(*library_, "checked");
  Tensor x(kF32, {1}, {3}), z(kF32, {1});
  EXPECT_EQ(Call(*op, {x}, {z}, {FloatAttr(5), BoolAttr(false)}), "");
  EXPECT_EQ(z.Values()[0], 5);
  EXPECT_EQ(Call(*op, {x}, {z}, {FloatAttr(2.5), BoolAttr(true)}),
            "checked: the kernel failed: 3 is above 2.5, loudly (dflt) [CL011]");
}

TEST_F(FunctionKernel, TakesListsAndOptionalViews) {
  const auto op = FindOrFail(*library_, "sum_all");
  Tensor a(kF64, {1}, {1}), b(kF64, {1}, {2}), bias(kF64, {1}, {10}), z(kF64, {1}),
      count(kF64, {1});
  EXPECT_EQ(Call(*op, {Arg{&a, &b}, bias}, {z, count}), "");
  EXPECT_EQ(z.Values()[0], 13);
  EXPECT_EQ(count.Values()[0], 2);
  EXPECT_EQ(Call(*op, {Arg(), Arg()}, {z, Arg()}), "");
  EXPECT_EQ(z.Values()[0], 0);
}

TEST_F(FunctionKernel, TakesZeroDimensionalTensors) {
  const auto op = FindOrFail(*library_, "scalar_twice");
  Tensor x(kF16, {}, {21}), z(kF16, {});
  EXPECT_EQ(Call(*op, {x}, {z}), "");
  EXPECT_EQ(z.Values()[0], 42);
}

TEST_F(FunctionKernel, ReadsNoAttributeBeyondThoseOfTheCallOrOfAnotherType) {
  const auto op = FindOrFail(*library_, "checked");
  OpwrightAttr attrs[4] = {IntAttr(5), BoolAttr(false), StringAttr("w"), {}};
  attrs[3].type = kOpwrightAttrListInt;
  Tensor x(kF32, {1}), z(kF32, {1});
  std::vector<Arg> inputs = {x}, outputs = {z};
  const std::vector<OpwrightArgument> in = RawOf(inputs);
  const std::vector<OpwrightArgument> out = RawOf(outputs);
  OpwrightCall call = {};
  call.struct_size = sizeof call;
  call.def = &op->def();
  call.inputs = in.data();
  call.outputs = out.data();
  call.num_inputs = call.num_outputs = 1;
  const auto error = [&](const OpwrightAttr* given, int32_t count) {
    call.attrs = given;
    call.num_attrs = count;
    OpwrightError* made = op->entry().compute(op->entry().kernel, nullptr, &call);
    if (made == nullptr) return std::string("none");
    std::string text = made->message;
    made->destroy(made);
    return text;
  };
  EXPECT_EQ(error(attrs, 4), "attribute limit has another type than the kernel was built for");
  attrs[0] = FloatAttr(5);
  EXPECT_EQ(error(attrs, 3),
            "the kernel was built for an attribute 3 and the metadef lists 3 of them");
  attrs[3].type = kOpwrightAttrListFloat;
  EXPECT_EQ(error(attrs, 4), "attribute steps has another type than the kernel was built for");
  attrs[3].type = kOpwrightAttrListBool;
  EXPECT_EQ(error(attrs, 4), "none");
}

}  // namespace
}  // namespace opwright::test

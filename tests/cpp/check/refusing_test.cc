// SPDX-License-Identifier: Apache-2.0
//
// Kernels that refuse shapes which their metadefs cannot exclude, forward and backward alike.
#include "library.h"

namespace opwright::check {
namespace {

// The first half of each row times the sigmoid of the second: rows are of even length.
constexpr const char* kSource = R"cc(
#include <math.h>
#include <opwright/kernel.h>
  using opwright::Status;
  using opwright::View;

  template <class T>
  Status Glu(View<const T> x, View<T> y) {
    if (x.Dim(1) % 2 != 0) return Status::Error("rows have an odd length");
    for (int64_t i = 0; i < y.Dim(0); ++i)
      for (int64_t j = 0; j < y.Dim(1); ++j) y(i, j) = x(i, j) / (1 + exp(-x(i, y.Dim(1) + j)));
    return opwright::SUCCESS;
  }
  OPWRIGHT_FUNCTION(glu, Glu)

  template <class T>
  Status GluGrad(View<const T> x, View<const T> g, View<T> d) {
    if (x.Dim(1) % 2 != 0) return Status::Error("rows have an odd length");
    for (int64_t i = 0; i < g.Dim(0); ++i)
      for (int64_t j = 0; j < g.Dim(1); ++j) {
        const T s = 1 / (1 + exp(-x(i, g.Dim(1) + j)));
        d(i, j) = g(i, j) * s;
        d(i, g.Dim(1) + j) = g(i, j) * x(i, j) * s * (1 - s);
      }
    return opwright::SUCCESS;
  }
  OPWRIGHT_FUNCTION(glu_grad, GluGrad)
)cc";

TEST(Refusing, ABackwardKernelMayRefuseWhatTheForwardKernelWasNotCalledFor) {
  std::string glu = Metadef("glu", {"x: \"m\", \"n\""}, {"y: \"m\", -1"}, "halves", "glu_grad");
  const std::string quoted = "\"halves\"";
  glu.replace(glu.find(quoted), quoted.size(), R"j(["m", "n // 2"])j");
  const std::string grad = Metadef("glu_grad", {"x: \"m\", \"n\"", "grad_y: \"m\", -1"},
                                   {"grad_x: \"m\", \"n\""}, "forward");
  const std::string library = BuildLibrary("refusing", kSource, {glu, grad});
  for (uint64_t seed = 1; seed <= Seeds(); ++seed) {
    const OperatorReport op = CheckOne(library, "glu", 60, seed);
    EXPECT_EQ(op.verdict, Verdict::kRight) << TextOf(op);
    EXPECT_EQ(FindingOf(op, "CK013"), nullptr) << TextOf(op);
  }
}

constexpr const char* kSumSource = R"cc(
#include <opwright/kernel.h>
  using opwright::View;
  template <class T>
  void Sum(View<const T> x, View<const T> bias, View<T> y) {
    for (int64_t i = 0; i < y.Size(); ++i) y.Data()[i] = x.Data()[i] + bias.Data()[i];
  }
  OPWRIGHT_FUNCTION(any, Sum)
  OPWRIGHT_FUNCTION(named, Sum)
)cc";

TEST(Refusing, AVerdictOnFewOfTheCallsSaysSo) {
  const std::string library =
      BuildLibrary("few_calls", kSumSource,
                   {Metadef("any", {"x: -2", "bias: \"n\""}, {"y: -2"}, "same(x, bias)"),
                    Metadef("named", {"x: \"n\"", "bias: \"n\""}, {"y: \"n\""}, "")});
  EXPECT_EQ(FindingOf(CheckOne(library, "named"), "CK025"), nullptr);
  const OperatorReport op = CheckOne(library, "any");
  EXPECT_EQ(op.verdict, Verdict::kRight) << TextOf(op);
  EXPECT_NE(FindingOf(op, "CK025"), nullptr) << TextOf(op);
}

TEST(Refusing, ManyNamedDimensionsMayBeRefused) {
  std::vector<std::string> inputs;
  for (int64_t k = 0; k < 20; ++k) inputs.push_back(StrCat("x", k, ": \"n", k, "\""));
  const std::string source = StrCat("#include <opwright/kernel.h>\n",
                                    Kernel("many", "return opwright::Status::Error(\"never\");"));
  const std::string library =
      BuildLibrary("many_dims", source, {Metadef("many", inputs, {"y: \"n0\""}, "same(x0)")});
  const OperatorReport op = CheckOne(library, "many");
  EXPECT_EQ(op.verdict, Verdict::kUndecided) << TextOf(op);
  EXPECT_NE(FindingOf(op, "CK018"), nullptr) << TextOf(op);
}

}  // namespace
}  // namespace opwright::check

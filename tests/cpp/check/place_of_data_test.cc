// SPDX-License-Identifier: Apache-2.0
//
// Kernels whose result depends on where their data lies.
#include "library.h"

namespace opwright::check {
namespace {

// y = 2 x, and its gradient; 1 more where the first tensor lies at a multiple of 64 bytes, as the
// dispatcher's copies do and tensors of 8 bytes an element at the end of a page seldom.
const std::string& Library() {
  static const std::string& path = *new std::string([] {
    const std::string source = R"cc(
#include <opwright/kernel.h>
      using opwright::View;
      double More(const double* data) { return reinterpret_cast<uintptr_t>(data) % 64 == 0; }
      void Twice(View<const double> x, View<double> y) {
        for (int64_t i = 0; i < x.Size(); ++i) y(i) = 2 * x(i);
      }
      void Asks(View<const double> x, View<double> y) {
        const double more = More(x.Data());
        for (int64_t i = 0; i < x.Size(); ++i) y(i) = 2 * x(i) + more;
      }
      void AsksGrad(View<const double> g, View<double> gx) {
        const double more = More(g.Data());
        for (int64_t i = 0; i < g.Size(); ++i) gx(i) = 2 * g(i) + more;
      }
      OPWRIGHT_FUNCTION(asks, Asks)
      OPWRIGHT_FUNCTION(twice, Twice)
      OPWRIGHT_FUNCTION(twice_grad, AsksGrad)
    )cc";
    return BuildLibrary("layout", source,
                        {Metadef("asks", {"x: \"n\""}, {"y: \"n\""}, "same(x)"),
                         Metadef("twice", {"x: \"n\""}, {"y: \"n\""}, "same(x)", "twice_grad"),
                         Metadef("twice_grad", {"grad_y: \"n\""}, {"grad_x: \"n\""}, "forward")});
  }());
  return path;
}

TEST(PlaceOfData, AResultThatDependsOnThePlaceOfTheDataIsAWarning) {
  const OperatorReport op = CheckOne(Library(), "asks");
  const Finding* found = FindingOf(op, "CK011");
  ASSERT_NE(found, nullptr) << TextOf(op);
  EXPECT_EQ(found->argument, "output y");
  EXPECT_EQ(found->severity, Severity::kWarning);
}

// Strides are the dispatcher's affair; what it makes dense lies elsewhere than what is.
TEST(PlaceOfData, AGradientThatChangesWithTheStridesOfAnOutputsGradientIsWrong) {
  const OperatorReport op = CheckOne(Library(), "twice");
  EXPECT_EQ(op.verdict, Verdict::kWrong);
  const Finding* found = FindingOf(op, "CK015");
  ASSERT_NE(found, nullptr) << TextOf(op);
  EXPECT_EQ(found->argument, "gradient of input x");
}

}  // namespace
}  // namespace opwright::check

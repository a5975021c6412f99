// SPDX-License-Identifier: Apache-2.0
//
// Columns of 16-bit floats: a sum that is kept in one of them loses its terms and is found; what
// rounds each step to 16 bits and sums in float32 is right.
#include "library.h"

namespace opwright::check {
namespace {

constexpr char kSource[] = R"cc(
#include <math.h>
#include <opwright/kernel.h>
  using opwright::View;
  template <class T, class Sum>
  void Squares(View<const T> x, View<T> y) {
    Sum s = Sum(0);
    for (int64_t i = 0; i < x.Size(); ++i) s = Sum(float(s) + float(x(i)) * float(x(i)));
    y() = T(float(s));
  }
  template <class T>
  void SquaresGrad(View<const T> x, View<const T> g, View<T> gx) {
    for (int64_t i = 0; i < x.Size(); ++i) gx(i) = T(2 * float(x(i)) * float(g()));
  }
  template <class T>
  void Own(View<const T> x, View<T> y) {
    Squares<T, T>(x, y);
  }
  template <class T>
  void Single(View<const T> x, View<T> y) {
    Squares<T, float>(x, y);
  }
  OPWRIGHT_FUNCTION(squares_own, Own)
  OPWRIGHT_FUNCTION(squares_single, Single)
  OPWRIGHT_FUNCTION(squares_own_grad, SquaresGrad)
  OPWRIGHT_FUNCTION(squares_single_grad, SquaresGrad)

  // The sum of the values themselves: of random signs it is lost in the noise.
  template <class T, class Sum>
  void Mean(View<const T> x, View<T> y) {
    Sum s = Sum(0);
    for (int64_t i = 0; i < x.Size(); ++i) s = Sum(float(s) + float(x(i)));
    y() = T(x.Size() > 0 ? float(s) / float(x.Size()) : 0);
  }
  template <class T>
  void MeanGrad(View<const T> x, View<const T> g, View<T> gx) {
    for (int64_t i = 0; i < x.Size(); ++i) gx(i) = T(float(g()) / float(x.Size()));
  }
  template <class T>
  void MeanOwn(View<const T> x, View<T> y) {
    Mean<T, T>(x, y);
  }
  template <class T>
  void MeanSingle(View<const T> x, View<T> y) {
    Mean<T, float>(x, y);
  }
  OPWRIGHT_FUNCTION(mean_own, MeanOwn)
  OPWRIGHT_FUNCTION(mean_single, MeanSingle)
  OPWRIGHT_FUNCTION(mean_own_grad, MeanGrad)
  OPWRIGHT_FUNCTION(mean_single_grad, MeanGrad)

  // Each step in 16 bits, the sum in float32.
  template <class T>
  void Softmax(View<const T> x, View<T> y) {
    T most = T(-INFINITY);
    for (int64_t i = 0; i < x.Size(); ++i)
      if (float(x(i)) > float(most)) most = x(i);
    float s = 0;
    for (int64_t i = 0; i < x.Size(); ++i) {
      y(i) = T(expf(float(T(float(x(i)) - float(most)))));
      s += float(y(i));
    }
    for (int64_t i = 0; i < x.Size(); ++i) y(i) = T(float(y(i)) / float(T(s)));
  }
  template <class T>
  void SoftmaxGrad(View<const T> y, View<const T> g, View<T> gx) {
    float s = 0;
    for (int64_t i = 0; i < y.Size(); ++i) s += float(T(float(y(i)) * float(g(i))));
    for (int64_t i = 0; i < y.Size(); ++i) gx(i) = T(float(y(i)) * float(T(float(g(i)) - s)));
  }
  OPWRIGHT_FUNCTION(softmax_steps, Softmax)
  OPWRIGHT_FUNCTION(softmax_steps_grad, SoftmaxGrad)
)cc";

const std::string& Library() {
  static const std::string path = [] {
    const std::string dtypes = "\"float16\", \"bfloat16\", \"float32\"";
    std::vector<std::string> metadefs;
    for (const std::string name : {"squares_own", "squares_single", "mean_own", "mean_single"}) {
      metadefs.push_back(Metadef(name, {"x: \"n\""}, {"y: "}, "", name + "_grad", dtypes));
      metadefs.push_back(Metadef(name + "_grad", {"x: \"n\"", "grad_y: "}, {"grad_x: \"n\""},
                                 "forward", "", dtypes));
    }
    metadefs.push_back(Metadef("softmax_steps", {"x: \"n\""}, {"y: \"n\""}, "same(x)",
                               "softmax_steps_grad", dtypes));
    metadefs.push_back(Metadef("softmax_steps_grad", {"y: \"n\"", "grad_y: \"n\""},
                               {"grad_x: \"n\""}, "forward", "", dtypes));
    return BuildLibrary("narrow", kSource, metadefs);
  }();
  return path;
}

TEST(NarrowSums, AreDueInFloat32) {
  for (const std::string name : {"squares_own", "mean_own"})
    for (uint64_t seed = 1; seed <= Times(4); ++seed) {
      const OperatorReport op = CheckOne(Library(), name, 60, seed);
      ASSERT_NE(FindingOf(op, "CK016"), nullptr) << TextOf(op);
    }
}

TEST(NarrowSums, RoundedOnceAreRight) {
  for (const std::string name : {"squares_single", "mean_single"})
    for (uint64_t seed = 1; seed <= Times(4); ++seed) {
      const OperatorReport op = CheckOne(Library(), name, 60, seed);
      EXPECT_EQ(op.verdict, Verdict::kRight) << TextOf(op);
    }
}

TEST(NarrowSums, OfStepsThatEachRoundAreRight) {
  for (uint64_t seed = 1; seed <= Times(4); ++seed) {
    const OperatorReport op = CheckOne(Library(), "softmax_steps", 60, seed);
    EXPECT_EQ(op.verdict, Verdict::kRight) << TextOf(op);
  }
}

}  // namespace
}  // namespace opwright::check

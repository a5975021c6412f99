// SPDX-License-Identifier: Apache-2.0
//
// Functions whose slope at zero is infinite: an infinite gradient of the right sign is right there,
// one of the other sign, or of a function whose slope is only steep, is not.
#include "library.h"

namespace opwright::check {
namespace {

constexpr char kSource[] = R"cc(
#include <math.h>
#include <opwright/kernel.h>
  using opwright::View;
  template <class T>
  void Cbrt(View<const T> x, View<T> y) {
    for (int64_t i = 0; i < x.Size(); ++i) y(i) = T(cbrt(double(x(i))));
  }
  OPWRIGHT_FUNCTION(cube_root, Cbrt)
  OPWRIGHT_FUNCTION(cube_root_sign, Cbrt)
  OPWRIGHT_FUNCTION(cube_root_finite, Cbrt)
  OPWRIGHT_FUNCTION(cube_root_off, Cbrt)
  template <class T>
  void CbrtGrad(View<const T> x, View<const T> g, View<T> gx) {
    for (int64_t i = 0; i < x.Size(); ++i) {
      const double c = cbrt(double(x(i)));
      gx(i) = g(i) * T(1 / (3 * c * c));
    }
  }
  OPWRIGHT_FUNCTION(cube_root_grad, CbrtGrad)
  template <class T>
  void SignGrad(View<const T> x, View<const T> g, View<T> gx) {
    CbrtGrad(x, g, gx);
    for (int64_t i = 0; i < x.Size(); ++i)
      if (x(i) == 0) gx(i) = -gx(i);
  }
  OPWRIGHT_FUNCTION(cube_root_sign_grad, SignGrad)
  template <class T>
  void FiniteGrad(View<const T> x, View<const T> g, View<T> gx) {
    CbrtGrad(x, g, gx);
    for (int64_t i = 0; i < x.Size(); ++i)
      if (x(i) == 0) gx(i) = 0;
  }
  OPWRIGHT_FUNCTION(cube_root_finite_grad, FiniteGrad)
  template <class T>
  void OffGrad(View<const T> x, View<const T> g, View<T> gx) {
    CbrtGrad(x, g, gx);
    for (int64_t i = 0; i < x.Size(); ++i) gx(i) *= T(1.05);
  }
  OPWRIGHT_FUNCTION(cube_root_off_grad, OffGrad)

  template <class T>
  void Root(View<const T> x, View<T> y) {
    for (int64_t i = 0; i < x.Size(); ++i) y(i) = copysign(sqrt(fabs(x(i))), x(i));
  }
  OPWRIGHT_FUNCTION(signed_root, Root)
  template <class T>
  void RootGrad(View<const T> x, View<const T> g, View<T> gx) {
    for (int64_t i = 0; i < x.Size(); ++i) gx(i) = g(i) / (2 * sqrt(fabs(x(i))));
  }
  OPWRIGHT_FUNCTION(signed_root_grad, RootGrad)

  template <class T>
  void Steep(View<const T> x, View<T> y) {
    for (int64_t i = 0; i < x.Size(); ++i) y(i) = tanh(T(1e4) * x(i));
  }
  OPWRIGHT_FUNCTION(steep_infinite, Steep)
  template <class T>
  void SteepGrad(View<const T> x, View<const T> g, View<T> gx) {
    for (int64_t i = 0; i < x.Size(); ++i) {
      const T t = tanh(T(1e4) * x(i));
      gx(i) = x(i) == 0 ? g(i) * T(INFINITY) : g(i) * T(1e4) * (1 - t * t);
    }
  }
  OPWRIGHT_FUNCTION(steep_infinite_grad, SteepGrad)
)cc";

const std::string& Library() {
  static const std::string path = [] {
    std::vector<std::string> metadefs;
    const std::string dtypes = "\"float32\", \"float64\"";
    for (const std::string name : {"cube_root", "cube_root_sign", "cube_root_finite",
                                   "cube_root_off", "signed_root", "steep_infinite"}) {
      metadefs.push_back(
          Metadef(name, {"x: \"n\""}, {"y: \"n\""}, "same(x)", name + "_grad", dtypes));
      metadefs.push_back(Metadef(name + "_grad", {"x: \"n\"", "grad_y: \"n\""}, {"grad_x: \"n\""},
                                 "same(x)", "", dtypes));
    }
    return BuildLibrary("endless", kSource, metadefs);
  }();
  return path;
}

TEST(InfiniteSlopes, AnInfiniteGradientIsRightAndAFiniteOneLeftOut) {
  for (const char* name : {"cube_root", "cube_root_finite", "signed_root"})
    for (uint64_t seed = 1; seed <= Times(4); ++seed) {
      const OperatorReport op = CheckOne(Library(), name, 60, seed);
      EXPECT_EQ(op.verdict, Verdict::kRight) << TextOf(op);
    }
}

TEST(InfiniteSlopes, OfTheOtherSignOrOffElsewhereAreWrong) {
  for (const char* name : {"cube_root_sign", "cube_root_off", "steep_infinite"})
    for (uint64_t seed = 1; seed <= Times(4); ++seed) {
      const OperatorReport op = CheckOne(Library(), name, 60, seed);
      EXPECT_EQ(op.verdict, Verdict::kWrong) << TextOf(op);
    }
}

}  // namespace
}  // namespace opwright::check

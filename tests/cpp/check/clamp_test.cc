// SPDX-License-Identifier: Apache-2.0
//
// Clamps whose bound is rounded in a narrow column: what that does to the result is right, a bound
// or a plateau that is another is not.
#include "library.h"

namespace opwright::check {
namespace {

constexpr char kSource[] = R"cc(
#include <math.h>
#include <opwright/kernel.h>
  using opwright::View;
  template <class T>
  T Clamped(T v, double eps) {
    return v < T(eps) ? T(eps) : v > T(1 - eps) ? T(1 - eps) : v;
  }
  template <class T>
  void Log(View<const T> x, View<T> y) {
    for (int64_t i = 0; i < x.Size(); ++i) y(i) = log(1 - Clamped(x(i), 1e-7));
  }
  OPWRIGHT_FUNCTION(log_clamped, Log)
  template <class T>
  void LogGrad(View<const T> x, View<const T> g, View<T> gx) {
    for (int64_t i = 0; i < x.Size(); ++i)
      gx(i) = x(i) != Clamped(x(i), 1e-7) ? T(0) : g(i) / (x(i) - 1);
  }
  OPWRIGHT_FUNCTION(log_clamped_grad, LogGrad)

  // The mean over all of them.
  template <class T>
  void Entropy(View<const T> p, View<const T> t, View<T> y) {
    double s = 0;
    for (int64_t i = 0; i < p.Size(); ++i) {
      const T v = Clamped(p(i), 1e-7);
      s -= t(i) * log(v) + (1 - t(i)) * log(1 - v);
    }
    y() = T(p.Size() > 0 ? s / double(p.Size()) : 0);
  }
  OPWRIGHT_FUNCTION(entropy, Entropy)
  template <class T>
  void EntropyGrad(View<const T> p, View<const T> t, View<const T> g, View<T> gp, View<T> gt) {
    for (int64_t i = 0; i < p.Size(); ++i) {
      const T v = Clamped(p(i), 1e-7), n = g() / T(p.Size());
      gp(i) = p(i) != v ? T(0) : n * (v - t(i)) / (v * (1 - v));
      gt(i) = n * (log(1 - v) - log(v));
    }
  }
  OPWRIGHT_FUNCTION(entropy_grad, EntropyGrad)

  template <class T>
  void Bound(View<const T> x, View<T> y) {
    const T most = sizeof(T) == 4 ? T(0.502) : T(0.5);
    for (int64_t i = 0; i < x.Size(); ++i) y(i) = x(i) < most ? x(i) : most;
  }
  OPWRIGHT_FUNCTION(bound_off, Bound)
  template <class T>
  void Sign(View<const T> x, View<T> y) {
    const T one = sizeof(T) == 4 ? T(1.002) : T(1);
    for (int64_t i = 0; i < x.Size(); ++i) y(i) = x(i) < 0 ? -one : one;
  }
  OPWRIGHT_FUNCTION(plateau_off, Sign)
)cc";

const std::string& Library() {
  static const std::string path = [] {
    const std::string dtypes = "\"float32\", \"float64\"";
    return BuildLibrary(
        "clamps", kSource,
        {Metadef("log_clamped", {"x: \"n\""}, {"y: \"n\""}, "same(x)", "log_clamped_grad", dtypes),
         Metadef("log_clamped_grad", {"x: \"n\"", "grad_y: \"n\""}, {"grad_x: \"n\""}, "same(x)",
                 "", dtypes),
         Metadef("entropy", {"p: \"n\"", "t: \"n\""}, {"y: "}, "", "entropy_grad", dtypes),
         Metadef("entropy_grad", {"p: \"n\"", "t: \"n\"", "grad_y: "},
                 {"grad_p: \"n\"", "grad_t: \"n\""}, "forward", "", dtypes),
         Metadef("bound_off", {"x: \"n\""}, {"y: \"n\""}, "same(x)", "", dtypes),
         Metadef("plateau_off", {"x: \"n\""}, {"y: \"n\""}, "same(x)", "", dtypes)});
  }();
  return path;
}

TEST(Clamps, WhoseBoundIsRoundedAreRight) {
  for (const char* name : {"log_clamped", "entropy"})
    for (uint64_t seed = 1; seed <= Times(4); ++seed) {
      const OperatorReport op = CheckOne(Library(), name, 60, seed);
      EXPECT_EQ(op.verdict, Verdict::kRight) << TextOf(op);
    }
}

TEST(Clamps, OfAnotherBoundOrPlateauAreFound) {
  for (const char* name : {"bound_off", "plateau_off"})
    for (uint64_t seed = 1; seed <= Times(4); ++seed) {
      const OperatorReport op = CheckOne(Library(), name, 60, seed);
      EXPECT_NE(FindingOf(op, "CK016"), nullptr) << TextOf(op);
    }
}

}  // namespace
}  // namespace opwright::check

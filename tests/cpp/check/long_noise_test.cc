// SPDX-License-Identifier: Apache-2.0
//
// Right operators in float32 whose differences are noisy where an axis is long: sums in float32,
// neighbours that are close.
#include "library.h"

namespace opwright::check {
namespace {

constexpr char kSource[] = R"cc(
  void F_sum(View<const float> x, View<float> y) {
    for (int64_t i = 0; i < x.Dim(0); ++i) {
      float sum = 0;
      for (int64_t k = 0; k < x.Dim(1); ++k) sum += x(i, k);
      y(i) = sum;
    }
  }
  void B_sum(View<const float>, View<const float>, View<const float> g, View<float> gx) {
    for (int64_t i = 0; i < gx.Dim(0); ++i)
      for (int64_t k = 0; k < gx.Dim(1); ++k) gx(i, k) = g(i);
  }
  void F_norm2(View<const float> x, View<float> y) {
    for (int64_t i = 0; i < x.Dim(0); ++i) {
      float sum = 0;
      for (int64_t k = 0; k < x.Dim(1); ++k) sum += x(i, k) * x(i, k);
      y(i) = std::sqrt(sum);
    }
  }
  void B_norm2(View<const float> x, View<const float> y, View<const float> g, View<float> gx) {
    for (int64_t i = 0; i < gx.Dim(0); ++i)
      for (int64_t k = 0; k < gx.Dim(1); ++k) gx(i, k) = y(i) > 0 ? g(i) * x(i, k) / y(i) : 0;
  }
  void F_largest(View<const float> x, View<float> y) {
    for (int64_t i = 0; i < x.Dim(0); ++i) {
      y(i) = -INFINITY;
      for (int64_t k = 0; k < x.Dim(1); ++k) y(i) = std::fmax(y(i), x(i, k));
    }
  }
  void B_largest(View<const float> x, View<const float> y, View<const float> g, View<float> gx) {
    for (int64_t i = 0; i < gx.Dim(0); ++i) {
      bool met = false;
      for (int64_t k = 0; k < gx.Dim(1); ++k) {
        gx(i, k) = !met && x(i, k) == y(i) ? g(i) : 0;
        met = met || x(i, k) == y(i);
      }
    }
  }
  void F_cumsum(View<const float> x, View<float> y) {
    for (int64_t i = 0; i < x.Dim(0); ++i) {
      float sum = 0;
      for (int64_t k = 0; k < x.Dim(1); ++k) y(i, k) = sum += x(i, k);
    }
  }
  void B_cumsum(View<const float>, View<const float>, View<const float> g, View<float> gx) {
    for (int64_t i = 0; i < gx.Dim(0); ++i) {
      float sum = 0;
      for (int64_t k = gx.Dim(1); k-- > 0;) gx(i, k) = sum += g(i, k);
    }
  }
  void F_sorted(View<const float> x, View<float> y) {
    for (int64_t i = 0; i < x.Dim(0); ++i) {
      float* row = y.Data() + i * x.Dim(1);
      std::copy_n(x.Data() + i * x.Dim(1), x.Dim(1), row);
      std::sort(row, row + x.Dim(1), [](float a, float b) { return a < b || (b != b && a == a); });
    }
  }
  void B_sorted(View<const float> x, View<const float>, View<const float> g, View<float> gx) {
    for (int64_t i = 0; i < x.Dim(0); ++i) {
      std::vector<int64_t> order(x.Dim(1));
      for (int64_t k = 0; k < x.Dim(1); ++k) order[k] = k;
      std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
        return x(i, a) < x(i, b) || (x(i, b) != x(i, b) && x(i, a) == x(i, a));
      });
      for (int64_t k = 0; k < x.Dim(1); ++k) gx(i, order[k]) = g(i, k);
    }
  }
  OPWRIGHT_FUNCTION(sum, F_sum)
  OPWRIGHT_FUNCTION(sum_grad, B_sum)
  OPWRIGHT_FUNCTION(norm2, F_norm2)
  OPWRIGHT_FUNCTION(norm2_grad, B_norm2)
  OPWRIGHT_FUNCTION(largest, F_largest)
  OPWRIGHT_FUNCTION(largest_grad, B_largest)
  OPWRIGHT_FUNCTION(cumsum, F_cumsum)
  OPWRIGHT_FUNCTION(cumsum_grad, B_cumsum)
  OPWRIGHT_FUNCTION(sorted, F_sorted)
  OPWRIGHT_FUNCTION(sorted_grad, B_sorted)
)cc";

constexpr const char* kNames[] = {"sum", "norm2", "largest", "cumsum", "sorted"};

const std::string& Library() {
  static const std::string& path = *new std::string([] {
    std::vector<std::string> metadefs;
    const std::string x = R"(x: "r", "n")";
    for (const std::string name : kNames) {
      const bool whole = name == "cumsum" || name == "sorted";
      const std::string y = whole ? R"(y: "r", "n")" : R"(y: "r")";
      metadefs.push_back(
          Metadef(name, {x}, {y}, whole ? "same(x)" : "", name + "_grad", R"("float32")"));
      metadefs.push_back(Metadef(name + "_grad", {x, y, "grad_" + y}, {"grad_" + x}, "forward", "",
                                 R"("float32")"));
    }
    return BuildLibrary("long_noise",
                        StrCat("#include <opwright/kernel.h>\n#include <algorithm>\n#include "
                               "<cmath>\n#include <vector>\nusing opwright::View;\n",
                               kSource),
                        metadefs);
  }());
  return path;
}

class LongNoise : public testing::TestWithParam<const char*> {};

TEST_P(LongNoise, IsNoError) { ExpectSound(Library(), GetParam()); }

INSTANTIATE_TEST_SUITE_P(Sums, LongNoise, testing::ValuesIn(kNames),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace opwright::check

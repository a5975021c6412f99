// SPDX-License-Identifier: Apache-2.0
//
// What is wrong only where one axis is long: blocks that need a multiple of their length, elements
// behind the first hundred, long sums in 16 bits.
#include "library.h"

namespace opwright::check {
namespace {

constexpr char kSource[] = R"cc(
  template <class T>
  void F_blocks(View<const T> x, View<T> y) {
    const int64_t n = x.Dim(1);
    for (int64_t r = 0; r < x.Dim(0); ++r) {
      if (n < 128)
        for (int64_t i = 0; i < n; ++i) y(r, i) = 2 * x(r, i);
      else
        for (int64_t i = 0; i < n; i += 128)
          for (int64_t k = i; k < i + 128; ++k) y.Data()[r * n + k] = 2 * x.Data()[r * n + k];
    }
  }
  template <class T>
  void F_unwritten(View<const T> x, View<T> y) {
    for (int64_t i = 0; i < x.Dim(0); ++i)
      for (int64_t k = 0; k < x.Dim(1) - (x.Dim(1) > 100); ++k) y(i, k) = 2 * x(i, k);
  }
  template <class T>
  void F_first_axis(View<const T> x, View<T> y) {
    for (int64_t i = 0; i < x.Dim(0) - (x.Dim(0) > 100); ++i)
      for (int64_t k = 0; k < x.Dim(1); ++k) y(i, k) = 2 * x(i, k);
  }
  template <class T>
  void F_right(View<const T> x, View<T> y) {
    for (int64_t i = 0; i < x.Dim(0); ++i)
      for (int64_t k = 0; k < x.Dim(1); ++k) y(i, k) = 2 * x(i, k);
  }
  template <class A, class T>
  void SumRows(View<const T> x, View<T> y) {
    for (int64_t i = 0; i < x.Dim(0); ++i) {
      A sum = 0;
      for (int64_t k = 0; k < x.Dim(1); ++k) sum = A(float(sum) + float(x(i, k)));
      y(i) = T(float(sum));
    }
  }
  template <class T>
  void F_narrow_sum(View<const T> x, View<T> y) {
    SumRows<T>(x, y);
  }
  template <class T>
  void F_wide_sum(View<const T> x, View<T> y) {
    SumRows<float>(x, y);
  }
  // y = x * w for w of n elements, whose gradient is summed over the rows.
  template <class T>
  void F_scaled(View<const T> x, View<const T> w, View<T> y) {
    for (int64_t i = 0; i < x.Dim(0); ++i)
      for (int64_t k = 0; k < x.Dim(1); ++k) y(i, k) = T(float(x(i, k)) * float(w(k)));
  }
  template <class A, class T>
  void Scaled(View<const T> x, View<const T> w, View<const T> g, View<T> gx, View<T> gw) {
    for (int64_t k = 0; k < x.Dim(1); ++k) {
      A sum = 0;
      for (int64_t i = 0; i < x.Dim(0); ++i) {
        gx(i, k) = T(float(g(i, k)) * float(w(k)));
        sum = A(float(sum) + float(g(i, k)) * float(x(i, k)));
      }
      gw(k) = T(float(sum));
    }
  }
  template <class T>
  void B_narrow(View<const T> x, View<const T> w, View<const T> g, View<T> gx, View<T> gw) {
    Scaled<T>(x, w, g, gx, gw);
  }
  template <class T>
  void B_wide(View<const T> x, View<const T> w, View<const T> g, View<T> gx, View<T> gw) {
    Scaled<double>(x, w, g, gx, gw);
  }
  OPWRIGHT_FUNCTION(narrow_scaled, F_scaled)
  OPWRIGHT_FUNCTION(narrow_scaled_grad, B_narrow)
  OPWRIGHT_FUNCTION(wide_scaled, F_scaled)
  OPWRIGHT_FUNCTION(wide_scaled_grad, B_wide)
  OPWRIGHT_FUNCTION(blocks, F_blocks)
  OPWRIGHT_FUNCTION(unwritten, F_unwritten)
  OPWRIGHT_FUNCTION(first_axis, F_first_axis)
  OPWRIGHT_FUNCTION(right, F_right)
  OPWRIGHT_FUNCTION(narrow_sum, F_narrow_sum)
  OPWRIGHT_FUNCTION(wide_sum, F_wide_sum)
)cc";

const std::string& Library() {
  static const std::string& path = *new std::string([] {
    std::vector<std::string> metadefs;
    for (const char* name : {"blocks", "unwritten", "first_axis", "right"})
      metadefs.push_back(Metadef(name, {"x: \"r\", \"n\""}, {"y: \"r\", \"n\""}, ""));
    for (const char* name : {"narrow_sum", "wide_sum"})
      metadefs.push_back(
          Metadef(name, {"x: \"r\", \"n\""}, {"y: \"r\""}, "", "", "\"float16\", \"float32\""));
    const std::string all = R"("r", "n")";
    const std::string floats = R"("bfloat16", "float32")";
    for (const std::string name : {"narrow_scaled", "wide_scaled"}) {
      metadefs.push_back(Metadef(name, {"x: " + all, R"(w: "n")"}, {"y: " + all}, "same(x)",
                                 name + "_grad", floats));
      metadefs.push_back(Metadef(name + "_grad", {"x: " + all, R"(w: "n")", "grad_y: " + all},
                                 {"grad_x: " + all, R"(grad_w: "n")"}, "forward", "", floats));
    }
    return BuildLibrary("long_axis",
                        StrCat("#include <opwright/kernel.h>\nusing opwright::View;\n", kSource),
                        metadefs);
  }());
  return path;
}

void Expect(const char* name, Verdict verdict, const char* id) {
  for (uint64_t seed = 0; seed < Times(3); ++seed) {
    const OperatorReport op = CheckOne(Library(), name, 60, seed);
    EXPECT_EQ(op.verdict, verdict) << TextOf(op);
    EXPECT_EQ(op.findings.empty(), id == nullptr) << TextOf(op);
    if (id == nullptr || op.findings.empty()) continue;
    EXPECT_EQ(op.findings[0].id, id) << TextOf(op);
  }
}

TEST(LongAxis, ABlockThatWritesBehindItsRowIsFound) { Expect("blocks", Verdict::kWrong, "CK001"); }

TEST(LongAxis, WhatIsNotWrittenOfALongRowIsFound) { Expect("unwritten", Verdict::kWrong, "CK006"); }

TEST(LongAxis, WhatIsNotWrittenOfManyRowsIsFound) {
  Expect("first_axis", Verdict::kWrong, "CK006");
}

TEST(LongAxis, ASumOfARowInSixteenBitsIsFound) {
  Expect("narrow_sum", Verdict::kWrong, "CK016");
  Expect("wide_sum", Verdict::kRight, nullptr);
}

TEST(LongAxis, ASumOfAGradientInSixteenBitsIsFound) {
  Expect("narrow_scaled", Verdict::kWrong, "CK016");
  Expect("wide_scaled", Verdict::kRight, nullptr);
}

TEST(LongAxis, ARightOneIsRight) { Expect("right", Verdict::kRight, nullptr); }

}  // namespace
}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// Attributes that make outputs smaller than inputs: both of their values are met with outputs that
// have elements, or the report says that one was not.
#include "library.h"

namespace opwright::check {
namespace {

// The mean over windows of k rows and columns; the wrong ones forget a factor where k is seven, or
// eight.
constexpr char kSource[] = R"cc(
#include <opwright/kernel.h>
  using namespace opwright;
  template <int kWrong>
  void Pool(View<const double> x, View<double> y, int64_t k) {
    for (int64_t i = 0; i < y.Dim(0); ++i)
      for (int64_t j = 0; j < y.Dim(1); ++j) {
        double sum = 0;
        for (int64_t a = 0; a < k; ++a)
          for (int64_t b = 0; b < k; ++b) sum += x(i + a, j + b);
        y(i, j) = sum / double(k * k);
      }
  }
  template <int kWrong>
  void PoolGrad(View<const double> x, View<const double> g, View<double> gx, int64_t k) {
    for (int64_t i = 0; i < x.Size(); ++i) gx.Data()[i] = 0;
    const int64_t of = k == kWrong ? 2 * k : k * k;
    for (int64_t i = 0; i < g.Dim(0); ++i)
      for (int64_t j = 0; j < g.Dim(1); ++j)
        for (int64_t a = 0; a < k; ++a)
          for (int64_t b = 0; b < k; ++b) gx(i + a, j + b) += g(i, j) / double(of);
  }
  OPWRIGHT_FUNCTION(pool_right, Pool<0>)
  OPWRIGHT_FUNCTION(pool_right_grad, PoolGrad<0>)
  OPWRIGHT_FUNCTION(pool_first_wrong, Pool<7>)
  OPWRIGHT_FUNCTION(pool_first_wrong_grad, PoolGrad<7>)
  OPWRIGHT_FUNCTION(pool_second_wrong, Pool<8>)
  OPWRIGHT_FUNCTION(pool_second_wrong_grad, PoolGrad<8>)

  // Of a length that is not more than k at its second value.
  void Short(View<const double> x, View<double> y, int64_t k) {
    for (int64_t i = 0; i < y.Size(); ++i) y(i) = x(i) * double(k);
  }
  void ShortGrad(View<const double>, View<const double> g, View<double> gx, int64_t k) {
    for (int64_t i = 0; i < gx.Size(); ++i) gx(i) = i < g.Size() ? g(i) * double(k) : 0;
  }
  OPWRIGHT_FUNCTION(short_rest, Short)
  OPWRIGHT_FUNCTION(short_rest_grad, ShortGrad)
)cc";

// With the attribute k.
std::string WithSize(const std::string& metadef, int k) {
  return WithFields(metadef, StrCat(", \"attr\": [{\"name\": \"k\", \"type\": \"int\", ",
                                    "\"param_type\": \"optional\", \"default_value\": ", k, "}]"));
}

// With a list for its shape rule.
std::string Ruled(const std::string& metadef, const std::string& rule) {
  return WithFields(metadef, ", \"shape_rule\": " + rule);
}

const std::string& Library() {
  static const std::string& path = *new std::string([] {
    std::vector<std::string> metadefs;
    for (const std::string name : {"pool_right", "pool_first_wrong", "pool_second_wrong"}) {
      metadefs.push_back(
          WithSize(Ruled(Metadef(name, {"x: \"h\", \"w\""}, {"y: -1, -1"}, "", name + "_grad"),
                         R"(["h - k + 1", "w - k + 1"])"),
                   7));
      metadefs.push_back(WithSize(Metadef(name + "_grad", {"x: \"h\", \"w\"", "grad_y: -1, -1"},
                                          {"grad_x: \"h\", \"w\""}, "forward"),
                                  7));
    }
    metadefs.push_back(WithSize(
        Ruled(Metadef("short_rest", {"x: 3"}, {"y: -1"}, "", "short_rest_grad"), R"(["3 - k"])"),
        2));
    metadefs.push_back(
        WithSize(Metadef("short_rest_grad", {"x: 3", "grad_y: -1"}, {"grad_x: 3"}, "forward"), 2));
    return BuildLibrary("windows", kSource, metadefs);
  }());
  return path;
}

TEST(Windows, OfBothValuesOfAnAttributeAreMet) {
  for (uint64_t seed = 0; seed < Times(4); ++seed) {
    const OperatorReport right = CheckOne(Library(), "pool_right", 60, seed);
    EXPECT_EQ(right.verdict, Verdict::kRight) << TextOf(right);
    EXPECT_TRUE(right.findings.empty()) << TextOf(right);
    for (const char* name : {"pool_first_wrong", "pool_second_wrong"}) {
      const OperatorReport op = CheckOne(Library(), name, 60, seed);
      EXPECT_EQ(op.verdict, Verdict::kWrong) << TextOf(op);
    }
  }
}

TEST(Windows, ThatLeaveNoElementAreTold) {
  for (uint64_t seed = 0; seed < Times(4); ++seed) {
    const OperatorReport op = CheckOne(Library(), "short_rest", 60, seed);
    EXPECT_EQ(op.verdict, Verdict::kRight) << TextOf(op);
    ASSERT_EQ(op.findings.size(), 1u) << TextOf(op);
    EXPECT_EQ(op.findings[0].id, "CK024");
    EXPECT_EQ(op.findings[0].message,
              "no call with k=3 had an output with elements: nothing is known of this value");
  }
}

}  // namespace
}  // namespace opwright::check

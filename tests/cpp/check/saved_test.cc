// SPDX-License-Identifier: Apache-2.0
//
// What a forward kernel saves for its backward kernel goes with its inputs: calls at the same time
// on other values get what the forward kernel made of those.
#include "library.h"

namespace opwright::check {
namespace {

// `before` and `after` stand around the backward loop: the mistake.
std::string Source() {
  std::string source = R"cc(
#include <opwright/kernel.h>
#include <sched.h>
    using opwright::View;
    void Sort(View<const double> x, View<double> y, View<int64_t> order) {
      for (int64_t i = 0; i < x.Dim(0); ++i)
        for (int64_t j = 0; j < x.Dim(1); ++j) {
          int64_t k = j;
          for (; k > 0 && x(i, order(i, k - 1)) > x(i, j); --k) order(i, k) = order(i, k - 1);
          order(i, k) = j;
        }
      for (int64_t i = 0; i < x.Dim(0); ++i)
        for (int64_t j = 0; j < x.Dim(1); ++j) y(i, j) = x(i, order(i, j));
    }
    OPWRIGHT_FUNCTION(sort_rows, Sort)
    OPWRIGHT_FUNCTION(sort_shared, Sort)
    void SortGrad(View<const int64_t> order, View<const double> g, View<double> gx) {
      for (int64_t i = 0; i < g.Dim(0); ++i)
        for (int64_t j = 0; j < g.Dim(1); ++j) gx(i, order(i, j)) = g(i, j);
    }
    OPWRIGHT_FUNCTION(sort_rows_grad, SortGrad)
    void SharedGrad(View<const int64_t> order, View<const double> g, View<double> gx) {
      static volatile double kept;
      for (int64_t i = 0; i < g.Dim(0); ++i)
        for (int64_t j = 0; j < g.Dim(1); ++j) {
          kept = g(i, j);
          sched_yield();
          gx(i, order(i, j)) = kept;
        }
    }
    OPWRIGHT_FUNCTION(sort_shared_grad, SharedGrad)
  )cc";
  return source;
}

std::string Param(const std::string& name, const std::string& dtype) {
  return StrCat("{\"name\": \"", name, "\", \"dtype\": [\"", dtype,
                "\"], \"shape\": [\"n\", \"d\"]}");
}

const std::string& Library() {
  static const std::string path = [] {
    std::vector<std::string> metadefs;
    for (const std::string name : {"sort_rows", "sort_shared"}) {
      metadefs.push_back(
          StrCat("{\"op_name\": \"", name, "\", \"input_desc\": [", Param("x", "float64"),
                 "], \"output_desc\": [", Param("y", "float64"), ", ", Param("order", "int64"),
                 "], \"shape_rule\": \"same(x)\", \"gradient\": \"", name, "_grad\"}"));
      metadefs.push_back(StrCat("{\"op_name\": \"", name, "_grad\", \"input_desc\": [",
                                Param("order", "int64"), ", ", Param("grad_y", "float64"),
                                "], \"output_desc\": [", Param("grad_x", "float64"),
                                "], \"shape_rule\": \"forward\"}"));
    }
    return BuildLibrary("saved", Source(), metadefs);
  }();
  return path;
}

TEST(SavedByForward, APermutationGoesWithItsValues) {
  for (uint64_t seed = 1; seed <= Times(4); ++seed) {
    const OperatorReport op = CheckOne(Library(), "sort_rows", 60, seed);
    EXPECT_EQ(op.verdict, Verdict::kRight) << TextOf(op);
  }
}

TEST(SavedByForward, BackwardCallsThatShareAStaticAreFound) {
  for (uint64_t seed = 1; seed <= Times(4); ++seed) {
    const OperatorReport op = CheckOne(Library(), "sort_shared", 60, seed);
    EXPECT_NE(FindingOf(op, "CK010"), nullptr) << TextOf(op);
  }
}

}  // namespace
}  // namespace opwright::check

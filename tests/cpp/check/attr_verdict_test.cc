// SPDX-License-Identifier: Apache-2.0
//
// What is said of attributes: nothing is right whose default no call took, and nothing is an
// attribute's part that only other shapes show.
#include "library.h"

namespace opwright::check {
namespace {

constexpr char kSource[] = R"cc(
#include <opwright/kernel.h>
  using namespace opwright;
  // Takes another value of `k` only.
  Status Not(View<const double> x, View<double> y, int64_t k) {
    if (k == 1) return Status::Error("not 1");
    for (int64_t i = 0; i < x.Size(); ++i) y(i) = double(k) * x(i);
    return SUCCESS;
  }
  void NotGrad(View<const double> x, View<const double> g, View<double> gx, int64_t k) {
    for (int64_t i = 0; i < x.Size(); ++i) gx(i) = double(k) * g(i);
  }
  OPWRIGHT_FUNCTION(not_default, Not)
  OPWRIGHT_FUNCTION(not_default_grad, NotGrad)

  // The sum over rows without some, of many rows only; eps plays no part in it.
  void Add(View<const double> x, View<const double> b, View<double> y, double) {
    for (int64_t i = 0; i < x.Dim(0); ++i)
      for (int64_t j = 0; j < x.Dim(1); ++j) y(i, j) = x(i, j) + b(j);
  }
  void AddGrad(View<const double> x, View<const double>, View<const double> g, View<double> gx,
               View<double> gb, double) {
    for (int64_t j = 0; gb && j < x.Dim(1); ++j) gb(j) = 0;
    for (int64_t i = 0; i < x.Dim(0); ++i)
      for (int64_t j = 0; j < x.Dim(1); ++j) {
        if (gx) gx(i, j) = g(i, j);
        if (gb && i % 64 != 63) gb(j) += g(i, j);
      }
  }
  OPWRIGHT_FUNCTION(many_rows, Add)
  OPWRIGHT_FUNCTION(many_rows_grad, AddGrad)

  // It does here.
  void Scale(View<const double> x, View<double> y, double eps) {
    for (int64_t i = 0; i < x.Size(); ++i) y(i) = x(i) * eps;
  }
  void ScaleGrad(View<const double>, View<const double> g, View<double> gx, double) {
    for (int64_t i = 0; i < g.Size(); ++i) gx(i) = g(i);
  }
  OPWRIGHT_FUNCTION(eps_lost, Scale)
  OPWRIGHT_FUNCTION(eps_lost_grad, ScaleGrad)
)cc";

std::string With(const std::string& metadef, const std::string& attr) {
  return WithFields(metadef, StrCat(", \"attr\": [{", attr, ", \"param_type\": \"optional\"}]"));
}

const std::string& Library() {
  static const std::string& path = *new std::string([] {
    const std::string k = R"("name": "k", "type": "int", "default_value": 1)";
    const std::string eps = R"("name": "eps", "type": "float", "default_value": 1)";
    const std::string n = "\"n\"";
    const std::string mn = R"("m", "n")";
    return BuildLibrary(
        "attr_verdict", kSource,
        {With(Metadef("not_default", {"x: " + n}, {"y: " + n}, "same(x)", "not_default_grad"), k),
         With(Metadef("not_default_grad", {"x: " + n, "grad_y: " + n}, {"grad_x: " + n}, "forward"),
              k),
         With(Metadef("many_rows", {"x: " + mn, "b: " + n}, {"y: " + mn}, "same(x)",
                      "many_rows_grad"),
              eps),
         With(Metadef("many_rows_grad", {"x: " + mn, "b: " + n, "grad_y: " + mn},
                      {"grad_x: " + mn, "grad_b: " + n}, "forward"),
              eps),
         With(Metadef("eps_lost", {"x: " + n}, {"y: " + n}, "same(x)", "eps_lost_grad"), eps),
         With(Metadef("eps_lost_grad", {"x: " + n, "grad_y: " + n}, {"grad_x: " + n}, "forward"),
              eps)});
  }());
  return path;
}

TEST(AttrVerdict, IsUndecidedWhereNoCallTookTheDefault) {
  for (uint64_t seed = 0; seed < Times(2); ++seed) {
    const OperatorReport op = CheckOne(Library(), "not_default", 60, seed);
    EXPECT_EQ(op.verdict, Verdict::kUndecided) << TextOf(op);
    const Finding* const finding = FindingOf(op, "CK024");
    ASSERT_NE(finding, nullptr) << TextOf(op);
    EXPECT_EQ(finding->argument, "attribute k=1");
  }
}

TEST(AttrVerdict, NamesAnAttributeWhereTheSameShapesAreRightWithoutIt) {
  for (uint64_t seed = 0; seed < Times(4); ++seed) {
    const OperatorReport rows = CheckOne(Library(), "many_rows", 60, seed);
    const GradientRow* const bias = RowOf(rows, "b");
    ASSERT_NE(bias, nullptr);
    EXPECT_FALSE(bias->right) << TextOf(rows);
    EXPECT_EQ(bias->kind.find("eps"), std::string::npos) << TextOf(rows);
    const OperatorReport lost = CheckOne(Library(), "eps_lost", 60, seed);
    const GradientRow* const x = RowOf(lost, "x");
    ASSERT_NE(x, nullptr);
    EXPECT_NE(x->kind.find("only with eps=1.75"), std::string::npos) << TextOf(lost);
  }
}

}  // namespace
}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// Families of operators: broadcasting, several outputs, indices, lists, optional inputs, written
// inputs, sums to a scalar. The right ones must pass whole; each wrong one differs in one line.
#include "library.h"

namespace opwright::check {
namespace {

constexpr char kProducts[] = R"cc(
// Calls f(k, a, b): the elements of x and y that element k of their broadcast shape is made of.
  // The shapes are their own, row-major.
  template <class T, class F>
  void Walk(const View<T>& z, const View<const double>& x, const View<const double>& y, F f) {
    for (int64_t k = 0; k < z.Size(); ++k) {
      int64_t rest = k, a = 0, b = 0, sx = 1, sy = 1;
      for (int32_t d = 1; d <= z.Rank(); ++d) {
        const int64_t size = z.Dim(z.Rank() - d), at = rest % size;
        rest /= size;
        if (d <= x.Rank()) {
          a += x.Dim(x.Rank() - d) == 1 ? 0 : at * sx;
          sx *= x.Dim(x.Rank() - d);
        }
        if (d <= y.Rank()) {
          b += y.Dim(y.Rank() - d) == 1 ? 0 : at * sy;
          sy *= y.Dim(y.Rank() - d);
        }
      }
      f(k, a, b);
    }
  }
  void Product(View<const double> x, View<const double> y, View<double> z) {
    for (int64_t k = 0; k < z.Size(); ++k) {
      int64_t rest = k, a = 0, b = 0;
      for (int32_t d = z.Rank() - 1; d >= 0; rest /= z.Dim(d--)) {
        a += rest % z.Dim(d) * x.Stride(d);
        b += rest % z.Dim(d) * y.Stride(d);
      }
      z.Data()[k] = x.Data()[a] * y.Data()[b];
    }
  }
  OPWRIGHT_FUNCTION(hadamard, Product)
  OPWRIGHT_FUNCTION(hadamard_unreduced, Product)
  OPWRIGHT_FUNCTION(hadamard_needs_both, Product)
  OPWRIGHT_FUNCTION(hadamard_null, Product)

  void Clear(View<double> g) {
    for (int64_t i = 0; g && i < g.Size(); ++i) g.Data()[i] = 0;
  }
  void ProductGrad(View<const double> x, View<const double> y, View<const double> g,
                   View<double> gx, View<double> gy) {
    Clear(gx);
    Clear(gy);
    Walk(g, x, y, [&](int64_t k, int64_t a, int64_t b) {
      if (gx) gx.Data()[a] += g.Data()[k] * y.Data()[b];
      if (gy) gy.Data()[b] += g.Data()[k] * x.Data()[a];
    });
  }
  OPWRIGHT_FUNCTION(hadamard_grad, ProductGrad)
  void Unreduced(View<const double> x, View<const double> y, View<const double> g, View<double> gx,
                 View<double> gy) {
    ProductGrad(x, y, g, gx, View<double>());
    if (gy)
      Walk(g, x, y,
           [&](int64_t k, int64_t a, int64_t b) { gy.Data()[b] = g.Data()[k] * x.Data()[a]; });
  }
  OPWRIGHT_FUNCTION(hadamard_unreduced_grad, Unreduced)
  void NeedsBoth(View<const double> x, View<const double> y, View<const double> g, View<double> gx,
                 View<double> gy) {
    ProductGrad(x, y, g, gx, gy);
    if (gx && !gy) Clear(gx);
  }
  OPWRIGHT_FUNCTION(hadamard_needs_both_grad, NeedsBoth)
  void NullGrad(View<const double> x, View<const double> y, View<const double> g, View<double> gx,
                View<double> gy) {
    ProductGrad(x, y, g, gx, gy);
    if (gx.Size() > 0) gx.Data()[0] += 0;
  }
  OPWRIGHT_FUNCTION(hadamard_null_grad, NullGrad)
)cc";

constexpr char kOthers[] = R"cc(
  void Powers(View<const double> x, View<double> square, View<double> cube) {
    for (int64_t i = 0; i < x.Size(); ++i) {
      const double v = x.Data()[i];
      square.Data()[i] = v * v;
      cube.Data()[i] = v * v * v;
    }
  }
  OPWRIGHT_FUNCTION(powers, Powers)
  OPWRIGHT_FUNCTION(powers_absent, Powers)
  void PowersGrad(View<const double> x, View<const double> gs, View<const double> gc,
                  View<double> gx) {
    for (int64_t i = 0; i < x.Size(); ++i) {
      const double v = x.Data()[i];
      gx.Data()[i] = (gs ? 2 * v * gs.Data()[i] : 0) + (gc ? 3 * v * v * gc.Data()[i] : 0);
    }
  }
  OPWRIGHT_FUNCTION(powers_grad, PowersGrad)
  void PowersAbsent(View<const double> x, View<const double> gs, View<const double> gc,
                    View<double> gx) {
    for (int64_t i = 0; i < x.Size(); ++i) {
      const double v = x.Data()[i];
      gx.Data()[i] = (gs ? 2 * v * gs.Data()[i] : 2 * v) + (gc ? 3 * v * v * gc.Data()[i] : 0);
    }
  }
  OPWRIGHT_FUNCTION(powers_absent_grad, PowersAbsent)

  void Take(View<const double> table, View<const int64_t> index, View<double> y) {
    const int64_t n = table.Dim(1);
    for (int64_t i = 0; i < y.Size(); ++i)
      y.Data()[i] = table.Data()[index.Data()[i / n] * n + i % n];
  }
  OPWRIGHT_FUNCTION(take_rows, Take)
  void TakeGrad(View<const double> table, View<const int64_t> index, View<const double> g,
                View<double> gt) {
    const int64_t n = table.Dim(1);
    Clear(gt);
    for (int64_t i = 0; i < g.Size(); ++i) gt.Data()[index.Data()[i / n] * n + i % n] += g.Data()[i];
  }
  OPWRIGHT_FUNCTION(take_rows_grad, TakeGrad)

  void Weighted(ViewList<const double> xs, View<double> y) {
    Clear(y);
    for (int64_t k = 0; k < xs.Size(); ++k)
      for (int64_t i = 0; i < y.Size(); ++i)
        y.Data()[i] += double(k + 1) * xs[k].Data()[i] * xs[k].Data()[i];
  }
  OPWRIGHT_FUNCTION(weighted, Weighted)
  void WeightedGrad(ViewList<const double> xs, View<const double> g, ViewList<double> gx) {
    for (int64_t k = 0; k < xs.Size(); ++k)
      for (int64_t i = 0; i < g.Size(); ++i)
        gx[k].Data()[i] = 2 * double(k + 1) * xs[k].Data()[i] * g.Data()[i];
  }
  OPWRIGHT_FUNCTION(weighted_grad, WeightedGrad)

  void Affine(View<const double> x, View<const double> b, View<double> y) {
    for (int64_t i = 0; i < x.Size(); ++i)
      y.Data()[i] = 2 * x.Data()[i] + (b ? b.Data()[i % x.Dim(1)] : 0.0);
  }
  OPWRIGHT_FUNCTION(affine, Affine)
  void AffineGrad(View<const double> x, View<const double> b, View<const double> g, View<double> gx,
                  View<double> gb) {
    Clear(gb);
    for (int64_t i = 0; i < x.Size(); ++i) {
      if (gx) gx.Data()[i] = 2 * g.Data()[i];
      if (gb) gb.Data()[i % x.Dim(1)] += g.Data()[i];
    }
  }
  OPWRIGHT_FUNCTION(affine_grad, AffineGrad)

  void Total(View<const double> x, View<double> y) {
    y.Data()[0] = 0;
    for (int64_t i = 0; i < x.Size(); ++i) y.Data()[0] += x.Data()[i] * x.Data()[i];
  }
  OPWRIGHT_FUNCTION(sum_of_squares, Total)
  void TotalGrad(View<const double> x, View<const double> g, View<double> gx) {
    for (int64_t i = 0; i < x.Size(); ++i) gx.Data()[i] = 2 * x.Data()[i] * g.Data()[0];
  }
  OPWRIGHT_FUNCTION(sum_of_squares_grad, TotalGrad)

  void Accumulate(View<double> sum, View<const double> x, View<double> y) {
    for (int64_t i = 0; i < x.Size(); ++i) y.Data()[i] = sum.Data()[i] += x.Data()[i];
  }
  OPWRIGHT_FUNCTION(accumulate, Accumulate)
)cc";

// A list of dims as the metadef has it, not a rule's text.
std::string WithList(std::string metadef, const std::string& rule, const std::string& list) {
  const std::string quoted = StrCat("\"", rule, "\"");
  return metadef.replace(metadef.find(quoted), quoted.size(), list);
}

const std::string& Library() {
  static const std::string& path = *new std::string([] {
    std::vector<std::string> metadefs;
    for (const std::string& name :
         {std::string("hadamard"), std::string("hadamard_unreduced"),
          std::string("hadamard_needs_both"), std::string("hadamard_null")}) {
      metadefs.push_back(
          Metadef(name, {"x: -2", "y: -2"}, {"z: -2"}, "broadcast(x, y)", name + "_grad"));
      metadefs.push_back(Metadef(name + "_grad", {"x: -2", "y: -2", "grad_z: -2"},
                                 {"?grad_x: -2", "?grad_y: -2"}, "forward"));
    }
    for (const std::string& name : {std::string("powers"), std::string("powers_absent")}) {
      metadefs.push_back(
          Metadef(name, {"x: -2"}, {"square: -2", "cube: -2"}, "same(x)", name + "_grad"));
      metadefs.push_back(Metadef(name + "_grad", {"x: -2", "?grad_square: -2", "?grad_cube: -2"},
                                 {"grad_x: -2"}, "same(x)"));
    }
    const auto indexed = [](std::string metadef) {
      const std::string index = "\"index\", \"dtype\": [\"float64\"]";
      return metadef.replace(metadef.find(index), index.size(),
                             "\"index\", \"dtype\": [\"int64\"]");
    };
    const std::vector<std::string> table = {"table: \"v\", \"n\"", "index: \"b\""};
    metadefs.push_back(
        indexed(WithList(Metadef("take_rows", table, {"y: \"b\", \"n\""}, "rows", "take_rows_grad"),
                         "rows", "[\"b\", \"n\"]")));
    metadefs.push_back(
        indexed(Metadef("take_rows_grad", {table[0], table[1], "grad_y: \"b\", \"n\""},
                        {"grad_table: \"v\", \"n\""}, "same(table)")));
    metadefs.push_back(
        WithList(Metadef("weighted", {"*xs: \"n\""}, {"y: \"n\""}, "list", "weighted_grad"), "list",
                 "[\"n\"]"));
    metadefs.push_back(
        Metadef("weighted_grad", {"*xs: \"n\"", "grad_y: \"n\""}, {"*grad_xs: \"n\""}, "same(xs)"));
    metadefs.push_back(Metadef("affine", {"x: \"m\", \"n\"", "?b: \"n\""}, {"y: \"m\", \"n\""},
                               "same(x)", "affine_grad"));
    metadefs.push_back(Metadef("affine_grad",
                               {"x: \"m\", \"n\"", "?b: \"n\"", "grad_y: \"m\", \"n\""},
                               {"?grad_x: \"m\", \"n\"", "?grad_b: \"n\""}, "forward"));
    metadefs.push_back(
        WithList(Metadef("sum_of_squares", {"x: -2"}, {"y: "}, "scalar", "sum_of_squares_grad"),
                 "scalar", "[]"));
    metadefs.push_back(
        Metadef("sum_of_squares_grad", {"x: -2", "grad_y: "}, {"grad_x: -2"}, "same(x)"));
    std::string accumulate = Metadef("accumulate", {"sum: -2", "x: -2"}, {"y: -2"}, "same(sum, x)");
    accumulate.insert(accumulate.size() - 1, ", \"mutates\": [\"sum\"]");
    metadefs.push_back(accumulate);
    return BuildLibrary(
        "families",
        StrCat("#include <opwright/kernel.h>\nusing opwright::View;\nusing opwright::ViewList;\n",
               kProducts, kOthers),
        metadefs);
  }());
  return path;
}

class RightFamily : public testing::TestWithParam<const char*> {};

TEST_P(RightFamily, PassesWhole) {
  for (uint64_t seed = 1; seed <= Seeds(); ++seed) {
    const OperatorReport op = CheckOne(Library(), GetParam(), 60, seed);
    EXPECT_EQ(op.verdict, Verdict::kRight) << "seed " << seed << "\n" << TextOf(op);
    EXPECT_TRUE(op.findings.empty()) << TextOf(op);
    for (const GradientRow& row : op.rows) {
      EXPECT_TRUE(row.checked || row.reason == "int64: no gradient is due") << TextOf(op);
      EXPECT_EQ(row.skipped, 0) << TextOf(op);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Check, RightFamily,
                         testing::Values("hadamard", "powers", "take_rows", "weighted", "affine",
                                         "sum_of_squares", "accumulate"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Families, AGradientNotSummedOverBroadcastDimensionsIsNamed) {
  const OperatorReport op = CheckOne(Library(), "hadamard_unreduced");
  EXPECT_EQ(op.verdict, Verdict::kWrong);
  EXPECT_TRUE(RowOf(op, "x")->right);
  EXPECT_FALSE(RowOf(op, "y")->right);
  EXPECT_NE(RowOf(op, "y")->kind.find("not reduced"), std::string::npos) << TextOf(op);
}

TEST(Families, AGradientThatNeedsTheOthersIsNamed) {
  const OperatorReport op = CheckOne(Library(), "hadamard_needs_both");
  EXPECT_EQ(op.verdict, Verdict::kWrong);
  ASSERT_NE(FindingOf(op, "CK014"), nullptr) << TextOf(op);
  EXPECT_EQ(FindingOf(op, "CK014")->argument, "gradient of input x");
}

TEST(Families, AnUnwantedGradientThatIsWrittenAnywayIsACrash) {
  const OperatorReport op = CheckOne(Library(), "hadamard_null");
  EXPECT_EQ(op.verdict, Verdict::kWrong);
  ASSERT_NE(FindingOf(op, "CK002"), nullptr) << TextOf(op);
  EXPECT_NE(FindingOf(op, "CK002")->message.find("with only the gradient of y wanted"),
            std::string::npos)
      << TextOf(op);
}

TEST(Families, AnUnusedOutputIsZeroNotOne) {
  const OperatorReport op = CheckOne(Library(), "powers_absent");
  EXPECT_EQ(op.verdict, Verdict::kWrong);
  ASSERT_NE(FindingOf(op, "CK014"), nullptr) << TextOf(op);
  EXPECT_NE(FindingOf(op, "CK014")->message.find("with only output cube used"), std::string::npos)
      << TextOf(op);
}

TEST(Families, EveryInputIsListed) {
  const OperatorReport op = CheckOne(Library(), "take_rows");
  ASSERT_EQ(op.rows.size(), 2u);
  EXPECT_TRUE(op.rows[0].checked);
  EXPECT_FALSE(op.rows[1].checked);
  EXPECT_EQ(op.rows[1].reason, "int64: no gradient is due");
}

}  // namespace
}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// The operators of blind_spots_test.cc.
#pragma once

#include <string>
#include <vector>

namespace opwright::check {

struct SpotAttr {
  std::string name;
  std::string type;
  std::string value;
};

struct Spot {
  std::string name;
  std::vector<std::string> inputs;  // as those of library.h; "#t": t of int64
  std::string output;
  std::string rule;
  std::vector<SpotAttr> attrs;
  // The kernels NAME and NAME_grad; GOOD is true or false in them.
  std::string source;
  std::string dtype = "float64";
  bool decided = true;
};

inline constexpr char kSpotHead[] = R"cc(
#include <math.h>
#include <opwright/kernel.h>
  using namespace opwright;
  void Clear(View<double> v) {
    for (int64_t i = 0; v && i < v.Size(); ++i) v.Data()[i] = 0;
  }
)cc";

// y = F(x) and gx = g * D(x), of attributes as parameters; D may ask GOOD.
inline std::string Elementwise(const std::string& parameters, const std::string& f,
                               const std::string& d, const std::string& refuse = "false") {
  const std::string each =
      " {\n  for (int64_t i = 0; i < x.Size(); ++i) {\n    const double v = x.Data()[i];\n    if "
      "(" +
      refuse + ") return Status::Error(\"refused\");\n    ";
  const std::string end = ";\n  }\n  return SUCCESS;\n}\n";
  return "Status F_NAME(View<const double> x, View<double> y" + parameters + ")" + each +
         "y.Data()[i] = " + f + end + "OPWRIGHT_FUNCTION(NAME, F_NAME)\n" +
         "Status B_NAME(View<const double> x, View<const double> g, View<double> gx" + parameters +
         ")" + each + "gx.Data()[i] = g.Data()[i] * (" + d + ")" + end +
         "OPWRIGHT_FUNCTION(NAME_grad, B_NAME)\n";
}

inline constexpr char kMatmul[] = R"cc(
  Status F_NAME(View<const double> a, View<const double> b, View<double> y) {
    if (a.Dim(1) != b.Dim(0)) return Status::Error("inner dimensions differ");
    for (int64_t i = 0; i < y.Dim(0); ++i)
      for (int64_t j = 0; j < y.Dim(1); ++j) {
        y(i, j) = 0;
        for (int64_t k = 0; k < a.Dim(1); ++k) y(i, j) += a(i, k) * b(k, j);
      }
    return SUCCESS;
  }
  OPWRIGHT_FUNCTION(NAME, F_NAME)
  void B_NAME(View<const double> a, View<const double> b, View<const double> g, View<double> ga,
              View<double> gb) {
    Clear(ga);
    Clear(gb);
    for (int64_t i = 0; i < a.Dim(0); ++i)
      for (int64_t k = 0; k < a.Dim(1); ++k)
        for (int64_t j = 0; j < (GOOD || b.Dim(1) == 0 ? b.Dim(1) : 1); ++j) {
          if (ga) ga(i, k) += g(i, j) * b(k, j);
        }
    for (int64_t i = 0; i < a.Dim(0); ++i)
      for (int64_t k = 0; k < a.Dim(1); ++k)
        for (int64_t j = 0; j < b.Dim(1); ++j) {
          if (gb) gb(k, j) += a(i, k) * g(i, j);
        }
  }
  OPWRIGHT_FUNCTION(NAME_grad, B_NAME)
)cc";

// A weighted sum over the product, so that its shape needs no rule.
inline constexpr char kGemm[] = R"cc(
  template <class V>
  int64_t At_NAME(const V& m, int64_t i, int64_t j, bool t) {
    return t ? j * m.Dim(1) + i : i * m.Dim(1) + j;
  }
  Status F_NAME(View<const double> a, View<const double> b, View<double> y, bool ta, bool tb) {
    if (a.Dim(ta ? 0 : 1) != b.Dim(tb ? 1 : 0)) return Status::Error("inner dimensions differ");
    y.Data()[0] = 0;
    for (int64_t i = 0; i < a.Dim(ta ? 1 : 0); ++i)
      for (int64_t j = 0; j < b.Dim(tb ? 0 : 1); ++j)
        for (int64_t k = 0; k < b.Dim(tb ? 1 : 0); ++k)
          y.Data()[0] +=
              (1.0 + i + 2 * j) * a.Data()[At_NAME(a, i, k, ta)] * b.Data()[At_NAME(b, k, j, tb)];
    return SUCCESS;
  }
  OPWRIGHT_FUNCTION(NAME, F_NAME)
  void B_NAME(View<const double> a, View<const double> b, View<const double> g, View<double> ga,
              View<double> gb, bool ta, bool tb) {
    Clear(ga);
    Clear(gb);
    for (int64_t i = 0; i < a.Dim(ta ? 1 : 0); ++i)
      for (int64_t j = 0; j < b.Dim(tb ? 0 : 1); ++j)
        for (int64_t k = 0; k < b.Dim(tb ? 1 : 0); ++k) {
          const double w = (1.0 + i + 2 * j) * g.Data()[0];
          const int64_t ai = At_NAME(a, i, k, ta), bi = At_NAME(b, k, j, tb);
          if (ga) ga.Data()[ai] += w * b.Data()[bi];
          if (gb)
            gb.Data()[GOOD || !tb || ta ? bi : At_NAME(b, j, k, tb) % b.Size()] += w * a.Data()[ai];
        }
  }
  OPWRIGHT_FUNCTION(NAME_grad, B_NAME)
)cc";

inline constexpr char kGroups[] = R"cc(
  Status F_NAME(View<const double> x, View<double> y, int64_t groups) {
    if (x.Dim(1) % groups != 0) return Status::Error("%d channels", static_cast<int>(x.Dim(1)));
    const int64_t d = x.Dim(1) / groups;
    for (int64_t r = 0; r < x.Dim(0) * groups; ++r) {
      double mean = 0;
      for (int64_t j = 0; j < d; ++j) mean += x.Data()[r * d + j] / static_cast<double>(d);
      for (int64_t j = 0; j < d; ++j) y.Data()[r * d + j] = x.Data()[r * d + j] - mean;
    }
    return SUCCESS;
  }
  OPWRIGHT_FUNCTION(NAME, F_NAME)
  Status B_NAME(View<const double> x, View<const double> g, View<double> gx, int64_t groups) {
    if (GOOD) return F_NAME(g, gx, groups);
    for (int64_t i = 0; i < x.Size(); ++i) gx.Data()[i] = g.Data()[i];
    return SUCCESS;
  }
  OPWRIGHT_FUNCTION(NAME_grad, B_NAME)
)cc";

inline constexpr char kAxpby[] = R"cc(
  void F_NAME(View<const double> x, View<const double> z, View<double> y, double a, double b) {
    for (int64_t i = 0; i < y.Size(); ++i) y.Data()[i] = a * x.Data()[i] + b * z.Data()[i];
  }
  OPWRIGHT_FUNCTION(NAME, F_NAME)
  void B_NAME(View<const double> x, View<const double> z, View<const double> g, View<double> gx,
              View<double> gz, double a, double b) {
    for (int64_t i = 0; i < g.Size(); ++i) {
      if (gx) gx.Data()[i] = (GOOD ? a : b) * g.Data()[i];
      if (gz) gz.Data()[i] = (GOOD ? b : a) * g.Data()[i];
    }
  }
  OPWRIGHT_FUNCTION(NAME_grad, B_NAME)
)cc";

inline constexpr char kPad[] = R"cc(
  void F_NAME(View<const double> x, View<double> y, int64_t left, int64_t right) {
    (void)right;
    Clear(y);
    for (int64_t i = 0; i < x.Size(); ++i) y.Data()[left + i] = x.Data()[i];
  }
  OPWRIGHT_FUNCTION(NAME, F_NAME)
  void B_NAME(View<const double> x, View<const double> g, View<double> gx, int64_t left,
              int64_t right) {
    for (int64_t i = 0; i < x.Size(); ++i) gx.Data()[i] = g.Data()[(GOOD ? left : right) + i];
  }
  OPWRIGHT_FUNCTION(NAME_grad, B_NAME)
)cc";

// Every stride-th window of k taps that are `dilation` apart.
inline constexpr char kConv[] = R"cc(
  void F_NAME(View<const double> x, View<const double> w, View<double> y, int64_t stride,
              int64_t dilation) {
    for (int64_t i = 0; i < y.Size(); ++i) {
      y.Data()[i] = 0;
      for (int64_t k = 0; k < w.Size(); ++k)
        y.Data()[i] += w.Data()[k] * x.Data()[i * stride + k * dilation];
    }
  }
  OPWRIGHT_FUNCTION(NAME, F_NAME)
  void B_NAME(View<const double> x, View<const double> w, View<const double> g, View<double> gx,
              View<double> gw, int64_t s, int64_t d) {
    Clear(gx);
    Clear(gw);
    for (int64_t i = 0; i < g.Size(); ++i)
      for (int64_t k = 0; k < w.Size(); ++k) {
        const int64_t at = GOOD ? i * s + k * d : (i * d + k * s) % x.Size();
        if (gx) gx.Data()[at] += g.Data()[i] * w.Data()[k];
        if (gw) gw.Data()[k] += g.Data()[i] * x.Data()[at];
      }
  }
  OPWRIGHT_FUNCTION(NAME_grad, B_NAME)
)cc";

// The wrong one takes the rows of what follows the axis for one.
inline constexpr char kCumsum[] = R"cc(
  struct Box_NAME {
    int64_t outer = 1, d = 1, inner = 1;
    bool Set(const View<const double>& x, int64_t axis) {
      if (axis < 0) axis += x.Rank();
      for (int32_t k = 0; k < x.Rank(); ++k) (k < axis ? outer : k == axis ? d : inner) *= x.Dim(k);
      return axis >= 0 && axis < x.Rank();
    }
  };
  Status F_NAME(View<const double> x, View<double> y, int64_t axis) {
    Box_NAME b;
    if (!b.Set(x, axis)) return Status::Error("axis out of range");
    for (int64_t o = 0; o < b.outer; ++o)
      for (int64_t i = 0; i < b.inner; ++i)
        for (int64_t k = 0; k < b.d; ++k) {
          const int64_t e = (o * b.d + k) * b.inner + i;
          y.Data()[e] = x.Data()[e] + (k == 0 ? 0 : y.Data()[e - b.inner]);
        }
    return SUCCESS;
  }
  OPWRIGHT_FUNCTION(NAME, F_NAME)
  Status B_NAME(View<const double> x, View<const double> g, View<double> gx, int64_t axis) {
    Box_NAME b;
    if (!b.Set(x, axis)) return Status::Error("axis out of range");
    Clear(gx);
    for (int64_t o = 0; o < b.outer; ++o)
      for (int64_t i = 0; i < b.inner; ++i) {
        double sum = 0;
        for (int64_t k = b.d; k-- > 0;) {
          const int64_t e = (GOOD ? o * b.d * b.inner : o * b.d) + k * b.inner + i;
          gx.Data()[e] = sum += g.Data()[e];
        }
      }
    return SUCCESS;
  }
  OPWRIGHT_FUNCTION(NAME_grad, B_NAME)
)cc";

inline constexpr char kAffine[] = R"cc(
  void F_NAME(View<const double> x, View<const double> w, View<const double> b, View<double> y) {
    for (int64_t i = 0; i < x.Size(); ++i)
      y.Data()[i] = x.Data()[i] * (w ? w.Data()[i] : 1) + (b ? b.Data()[i] : 0);
  }
  OPWRIGHT_FUNCTION(NAME, F_NAME)
  void B_NAME(View<const double> x, View<const double> w, View<const double> b,
              View<const double> g, View<double> gx) {
    for (int64_t i = 0; i < x.Size(); ++i)
      gx.Data()[i] = g.Data()[i] * (w && (GOOD || b) ? w.Data()[i] : 1);
  }
  OPWRIGHT_FUNCTION(NAME_grad, B_NAME)
)cc";

// Absent ones are one; the wrong one forgets c where it is the only one that is absent.
inline constexpr char kThree[] = R"cc(
  void F_NAME(View<const double> x, View<const double> a, View<const double> b,
              View<const double> c, View<double> y) {
    for (int64_t i = 0; i < x.Size(); ++i)
      y.Data()[i] =
          x.Data()[i] * (a ? a.Data()[i] : 1) * (b ? b.Data()[i] : 1) * (c ? c.Data()[i] : 1);
  }
  OPWRIGHT_FUNCTION(NAME, F_NAME)
  void B_NAME(View<const double> x, View<const double> a, View<const double> b,
              View<const double> c, View<const double> g, View<double> gx) {
    for (int64_t i = 0; i < x.Size(); ++i)
      gx.Data()[i] = GOOD || !a || !b || c ? g.Data()[i] * (a ? a.Data()[i] : 1) *
                                                 (b ? b.Data()[i] : 1) * (c ? c.Data()[i] : 1)
                                           : g.Data()[i];
  }
  OPWRIGHT_FUNCTION(NAME_grad, B_NAME)
)cc";

// The wrong one takes the mean over ignored rows, too.
inline constexpr char kIgnore[] = R"cc(
  int64_t Count_NAME(const View<const int64_t>& t, int64_t ignore) {
    int64_t n = 0;
    for (int64_t i = 0; i < t.Size(); ++i) n += t.Data()[i] != ignore;
    return n;
  }
  void F_NAME(View<const double> x, View<const int64_t> t, View<double> loss, int64_t ignore) {
    loss.Data()[0] = 0;
    for (int64_t i = 0; i < t.Size(); ++i)
      if (t.Data()[i] != ignore)
        loss.Data()[0] -= x(i, t.Data()[i]) / static_cast<double>(Count_NAME(t, ignore));
  }
  OPWRIGHT_FUNCTION(NAME, F_NAME)
  void B_NAME(View<const double> x, View<const int64_t> t, View<const double> g, View<double> gx,
              int64_t ignore) {
    Clear(gx);
    const int64_t n = GOOD ? Count_NAME(t, ignore) : x.Dim(0);
    for (int64_t i = 0; i < t.Size(); ++i)
      if (t.Data()[i] != ignore) gx(i, t.Data()[i]) = -g.Data()[0] / static_cast<double>(n);
  }
  OPWRIGHT_FUNCTION(NAME_grad, B_NAME)
)cc";

inline constexpr char kComplex[] = R"cc(
  void F_NAME(View<const double _Complex> x, View<double _Complex> y) {
    for (int64_t i = 0; i < x.Size(); ++i) y.Data()[i] = x.Data()[i] * x.Data()[i];
  }
  OPWRIGHT_FUNCTION(NAME, F_NAME)
  void B_NAME(View<const double _Complex> x, View<const double _Complex> g,
              View<double _Complex> gx) {
    for (int64_t i = 0; i < x.Size(); ++i)
      gx.Data()[i] = (GOOD ? 2.0 : 7.0) * x.Data()[i] * g.Data()[i];
  }
  OPWRIGHT_FUNCTION(NAME_grad, B_NAME)
)cc";

inline const std::vector<Spot>& Spots() {
  const std::vector<std::string> x = {"x: \"n\""};
  const std::string y = "y: \"n\"";
  static const std::vector<Spot>& spots = *new std::vector<Spot>{
      {"matmul",
       {"a: -1, -1", "b: -1, -1"},
       "y: -1, -1",
       R"x(["a.dim(0)", "b.dim(1)"])x",
       {},
       kMatmul},
      {"gemm",
       {"a: -1, -1", "b: -1, -1"},
       "y: 1",
       "[1]",
       {{"ta", "bool", "false"}, {"tb", "bool", "false"}},
       kGemm},
      {"groups_of_8",
       {"x: \"n\", \"c\""},
       "y: \"n\", \"c\"",
       "same(x)",
       {{"groups", "int", "8"}},
       kGroups},
      {"groups_of_32",
       {"x: \"n\", \"c\""},
       "y: \"n\", \"c\"",
       "same(x)",
       {{"groups", "int", "32"}},
       kGroups},
      {"axpby",
       {"x: \"n\"", "z: \"n\""},
       y,
       "same(x)",
       {{"alpha", "float", "1"}, {"beta", "float", "1"}},
       kAxpby},
      {"pad",
       x,
       "y: -1",
       R"x(["n + left + right"])x",
       {{"left", "int", "0"}, {"right", "int", "0"}},
       kPad},
      {"conv",
       {"x: \"n\"", "w: 3"},
       "y: -1",
       R"x(["(n - dilation * 2 - 1) // stride + 1"])x",
       {{"stride", "int", "1"}, {"dilation", "int", "1"}},
       kConv},
      {"cumsum", {"x: -2"}, "y: -2", "same(x)", {{"axis", "int", "-1"}}, kCumsum},
      {"cumsum_of_images",
       {"x: -1, -1, -1"},
       "y: -1, -1, -1",
       "same(x)",
       {{"axis", "int", "-1"}},
       kCumsum},
      {"ignored_rows",
       {"x: \"n\", \"c\"", "#t: \"n\""},
       "y: 1",
       "[1]",
       {{"ignore_index", "int", "-100"}},
       kIgnore},
      {"affine", {"x: \"n\"", "?w: \"n\"", "?b: \"n\""}, y, "same(x)", {}, kAffine},
      {"three", {"x: \"n\"", "?a: \"n\"", "?b: \"n\"", "?c: \"n\""}, y, "same(x)", {}, kThree},
      {"smoothstep",
       x,
       y,
       "same(x)",
       {},
       Elementwise("", "v * v * (3 - 2 * v)", "(GOOD ? 6 : 3) * v * (1 - v)",
                   "!(v >= 0 && v <= 1)")},
      {"clip20",
       x,
       y,
       "same(x)",
       {},
       Elementwise("", "v < 0 ? 0 : v > 20 ? 20 : v", "v > 0 && (!GOOD || v < 20) ? 1 : 0")},
      {"clamp255",
       x,
       y,
       "same(x)",
       {},
       Elementwise("", "v < 0 ? 0 : v > 255 ? 255 : v", "v > 0 && (!GOOD || v < 255) ? 1 : 0")},
      {"softplus",
       x,
       y,
       "same(x)",
       {{"threshold", "float", "20"}},
       Elementwise(", double threshold", "v > threshold ? 2 * v : log1p(exp(v))",
                   "GOOD && v > threshold ? 2 : 1 / (1 + exp(-v))")},
      {"shrink",
       x,
       y,
       "same(x)",
       {{"limit", "float", "3000"}},
       Elementwise(", double limit", "fabs(v) > limit ? 0 : v", "GOOD && fabs(v) > limit ? 0 : 1")},
      {"zeros_alone",
       x,
       y,
       "same(x)",
       {},
       Elementwise("", "v", "GOOD ? 1 : 3", "v != 0"),
       "float64",
       false},
      {"one_element",
       x,
       y,
       "same(x)",
       {},
       Elementwise("", "v * v * v", "GOOD || x.Size() == 1 ? 3 * v * v : v", "x.Size() > 1"),
       "float64",
       false},
      {"complex_square", x, y, "same(x)", {}, kComplex, "complex128", false},
      {"refuses_all",
       x,
       y,
       "same(x)",
       {},
       Elementwise("", "v", "GOOD ? 1 : 2", "true"),
       "float64",
       false},
  };
  return spots;
}

}  // namespace opwright::check

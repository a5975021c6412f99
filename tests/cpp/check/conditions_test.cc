// SPDX-License-Identifier: Apache-2.0
//
// Operators that are wrong under one condition: an axis of one, a flag beside an input that is left
// out, a long list, a logit of -infinity, one dtype of an integer result, a mode of the thread.
#include "library.h"

namespace opwright::check {
namespace {

constexpr const char* kSource = R"cc(
#include <math.h>
#include <limits>
#include <opwright/kernel.h>
#include <xmmintrin.h>
  using opwright::View;
  using opwright::ViewList;
  using C = View<const double>;
  using M = View<double>;

  void Mean(C x, M y) {
    for (int64_t i = 0; i < x.Dim(0); ++i) {
      y(i) = 0;
      for (int64_t j = 0; j < x.Dim(1); ++j) y(i) += x(i, j) / static_cast<double>(x.Dim(1));
    }
  }
  void MeanGrad(C x, C g, M d) {
    for (int64_t i = 0; i < x.Dim(0); ++i)
      for (int64_t j = 0; j < x.Dim(1); ++j)
        d(i, j) = x.Dim(0) == 1 ? g(0) : g(i) / static_cast<double>(x.Dim(1));
  }
  OPWRIGHT_FUNCTION(mean, Mean)
  OPWRIGHT_FUNCTION(mean_grad, MeanGrad)

  void Gate(C x, C b, M y, bool square) {
    for (int64_t i = 0; i < x.Size(); ++i) {
      const double z = x(i) + (b ? b(i) : 0);
      y(i) = square ? z * z : z;
    }
  }
  void GateGrad(C x, C b, C g, M dx, M db, bool square) {
    for (int64_t i = 0; i < x.Size(); ++i) {
      const double d = b && square ? 2 * (x(i) + b(i)) : 1;
      dx(i) = g(i) * d;
      if (db) db(i) = g(i) * d;
    }
  }
  OPWRIGHT_FUNCTION(gate, Gate)
  OPWRIGHT_FUNCTION(gate_grad, GateGrad)

  void Total(ViewList<const double> xs, M y) {
    for (int64_t i = 0; i < y.Size(); ++i) {
      y(i) = 0;
      for (int64_t t = 0; t < xs.Size(); ++t) y(i) += xs[t](i);
    }
  }
  void TotalGrad(ViewList<const double> xs, C g, ViewList<double> d) {
    for (int64_t t = 0; t < xs.Size(); ++t)
      for (int64_t i = 0; i < g.Size(); ++i) d[t](i) = t < 4 ? g(i) : 0;
  }
  OPWRIGHT_FUNCTION(total, Total)
  OPWRIGHT_FUNCTION(total_grad, TotalGrad)

  double Share(C x, int64_t i, int64_t j) {
    double most = -INFINITY, sum = 0;
    for (int64_t k = 0; k < x.Dim(1); ++k) most = fmax(most, x(i, k));
    for (int64_t k = 0; k < x.Dim(1); ++k) sum += exp(x(i, k) - most);
    return exp(x(i, j) - most) / sum;
  }
  void Entropy(C x, M y) {
    for (int64_t i = 0; i < x.Dim(0); ++i) {
      y(i) = 0;
      for (int64_t j = 0; j < x.Dim(1); ++j)
        if (const double p = Share(x, i, j); p != 0) y(i) -= p * log(p);
    }
  }
  template <bool kTests>
  void EntropyGrad(C x, C g, M d) {
    for (int64_t i = 0; i < x.Dim(0); ++i) {
      double h = 0;
      for (int64_t j = 0; j < x.Dim(1); ++j) {
        const double p = Share(x, i, j);
        if (!kTests || p != 0) h -= p * log(p);
      }
      for (int64_t j = 0; j < x.Dim(1); ++j) {
        const double p = Share(x, i, j);
        d(i, j) = p == 0 ? 0 : -g(i) * p * (log(p) + h);
      }
    }
  }
  void EntropyGradTested(C x, C g, M d) { EntropyGrad<true>(x, g, d); }
  void EntropyGradPlain(C x, C g, M d) { EntropyGrad<false>(x, g, d); }
  OPWRIGHT_FUNCTION(entropy, Entropy)
  OPWRIGHT_FUNCTION(entropy_grad, EntropyGradTested)
  OPWRIGHT_FUNCTION(entropy_nan, Entropy)
  OPWRIGHT_FUNCTION(entropy_nan_grad, EntropyGradPlain)

  template <class T>
  void Largest(View<const T> x, View<int64_t> at) {
    for (int64_t i = 0; i < x.Dim(0); ++i) {
      at(i) = 0;
      for (int64_t j = 1; j < x.Dim(1); ++j)
        if (x(i, j) > x(i, at(i))) at(i) = j;
    }
  }
  template <class T>
  void LargestOrLeast(View<const T> x, View<int64_t> at) {
    for (int64_t i = 0; i < x.Dim(0); ++i) {
      at(i) = 0;
      for (int64_t j = 1; j < x.Dim(1); ++j)
        if (sizeof(T) == 4 ? x(i, j) < x(i, at(i)) : x(i, j) > x(i, at(i))) at(i) = j;
    }
  }
  OPWRIGHT_FUNCTION(largest, Largest)
  OPWRIGHT_FUNCTION(largest_or_least, LargestOrLeast)

  template <class T>
  void Least(View<const T> x, View<T> y) {
    for (int64_t i = 0; i < x.Dim(0); ++i) {
      y(i) = std::numeric_limits<T>::max();
      for (int64_t j = 0; j < x.Dim(1); ++j)
        if (x(i, j) < y(i)) y(i) = x(i, j);
    }
  }
  OPWRIGHT_FUNCTION(least, Least)

  void Rows(C x, M y, int64_t rows) {
    (void)rows;
    for (int64_t i = 0; i < y.Size(); ++i) y.Data()[i] = x.Data()[i];
  }
  OPWRIGHT_FUNCTION(rows, Rows)

  void Flushing(C x, M y) {
    _mm_setcsr(_mm_getcsr() | 0x8040);
    for (int64_t i = 0; i < x.Size(); ++i) y(i) = 2 * x(i);
  }
  void Restoring(C x, M y) {
    const unsigned modes = _mm_getcsr();
    Flushing(x, y);
    _mm_setcsr(modes);
  }
  OPWRIGHT_FUNCTION(flushing, Flushing)
  OPWRIGHT_FUNCTION(restoring, Restoring)

  void Constant(C x, M y, double eps, double scale) {
    (void)eps;
    for (int64_t i = 0; i < x.Size(); ++i) y(i) = scale * x(i) / (x(i) * x(i) + 1e-5);
  }
  OPWRIGHT_FUNCTION(constant, Constant)
)cc";

const std::string& Library() {
  static const std::string library = [] {
    std::vector<std::string> metadefs;
    // With a backward operator that takes all inputs.
    const auto add = [&](const std::string& name, const std::vector<std::string>& inputs,
                         const std::string& output, const std::vector<std::string>& gradients,
                         const std::vector<std::string>& attrs = {}) {
      std::vector<std::string> all = inputs;
      all.push_back("grad_" + output);
      metadefs.push_back(WithAttrs(Metadef(name, inputs, {output}, "", name + "_grad"), attrs));
      metadefs.push_back(WithAttrs(Metadef(name + "_grad", all, gradients, "forward"), attrs));
    };
    const std::vector<std::string> square = {Attr("square", "bool", "false")};
    add("mean", {"x: \"b\", \"n\""}, "y: \"b\"", {"grad_x: \"b\", \"n\""});
    add("gate", {"x: \"n\"", "?b: \"n\""}, "y: \"n\"", {"grad_x: \"n\"", "?grad_b: \"n\""}, square);
    add("total", {"*xs: \"n\""}, "y: \"n\"", {"*grad_xs: \"n\""});
    for (const char* name : {"entropy", "entropy_nan"})
      add(name, {"x: \"b\", \"n\""}, "y: \"b\"", {"grad_x: \"b\", \"n\""});
    for (const char* name : {"largest", "largest_or_least"})
      metadefs.push_back(Replaced(
          Metadef(name, {"x: \"m\", \"n\""}, {"at: \"m\""}, "", "", "\"float32\", \"float64\""),
          "\"at\", \"dtype\": [\"float32\", \"float64\"]", "\"at\", \"dtype\": [\"int64\"]"));
    for (const char* name : {"flushing", "restoring"})
      metadefs.push_back(Metadef(name, {"x: \"n\""}, {"y: \"n\""}, ""));
    metadefs.push_back(
        Metadef("least", {"x: \"m\", \"n\""}, {"y: \"m\""}, "", "", "\"int32\", \"int64\""));
    metadefs.push_back(WithAttrs(Replaced(Metadef("rows", {"x: \"n\""}, {"y: -1, -1"}, "RULE"),
                                          "\"RULE\"", R"j(["rows", "2 * n // rows // 2"])j"),
                                 {Attr("rows", "int", "1")}));
    metadefs.push_back(WithAttrs(Metadef("constant", {"x: \"n\""}, {"y: \"n\""}, ""),
                                 {Attr("eps", "float", "1e-5"), Attr("scale", "float", "2.0")}));
    return BuildLibrary("conditions", kSource, metadefs);
  }();
  return library;
}

void ExpectWrong(const std::string& op, const std::string& text) {
  for (uint64_t seed = 1; seed <= std::max(Times(2), Seeds()); ++seed) {
    const OperatorReport report = CheckOne(Library(), op, 60, seed);
    EXPECT_EQ(report.verdict, Verdict::kWrong) << TextOf(report);
    EXPECT_NE(TextOf(report).find(text), std::string::npos) << TextOf(report);
  }
}

void ExpectRight(const std::string& op) {
  const OperatorReport report = CheckOne(Library(), op);
  EXPECT_EQ(report.verdict, Verdict::kRight) << TextOf(report);
  EXPECT_TRUE(report.findings.empty()) << TextOf(report);
}

TEST(Conditions, AnAxisOfOneIsMet) { ExpectWrong("mean", "x[1, 5]"); }

TEST(Conditions, AFlagIsMetBesideAnInputThatIsLeftOut) { ExpectWrong("gate", "square=true"); }

TEST(Conditions, AListOfMoreThanFourIsMet) { ExpectWrong("total", "gradient of xs[4]: wrong"); }

TEST(Conditions, AMaskedLogitIsMet) {
  ExpectWrong("entropy_nan", "-infinity among the values of one");
  ExpectRight("entropy");
}

TEST(Conditions, IntegerResultsAreThoseOfTheOtherColumn) {
  ExpectWrong("largest_or_least",
              "output at in the column (float32) is another than in (float64) [CK016]");
  ExpectRight("largest");
  ExpectRight("least");
}

TEST(Conditions, AModeOfTheThreadIsToBeLeftAsItWas) {
  ExpectWrong("flushing", "[CK027]");
  ExpectRight("restoring");
}

TEST(Conditions, AnAttributeThatChangesNothingIsNamed) {
  const OperatorReport report = CheckOne(Library(), "constant");
  EXPECT_EQ(report.verdict, Verdict::kRight) << TextOf(report);
  ASSERT_EQ(report.findings.size(), 1u) << TextOf(report);
  EXPECT_EQ(report.findings[0].id, "CK026");
  EXPECT_EQ(report.findings[0].argument, "attribute eps");
  EXPECT_EQ(FindingOf(CheckOne(Library(), "rows"), "CK026"), nullptr) << "it decides a shape";
}

}  // namespace
}  // namespace opwright::check

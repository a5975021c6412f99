// SPDX-License-Identifier: Apache-2.0
//
// Operators that accept few shapes: the gradient under both values of an attribute is compared at
// every seed, or the report says that one was not.
#include "library.h"

namespace opwright::check {
namespace {

// A gated unit over two halves of a row, which `swap` exchanges, and scaled sums of `heads` equal
// parts of a row; the wrong gradients forget the one, and take the other for its default.
constexpr char kSource[] = R"cc(
#include <opwright/kernel.h>
#include <cmath>
  using namespace opwright;
  template <bool kWrong>
  Status Glu(View<const double> x, View<double> y, bool swap) {
    const int64_t h = x.Dim(1) / 2;
    if (x.Dim(1) % 2 != 0) return Status::Error("an even dimension is needed");
    for (int64_t i = 0; i < x.Dim(0); ++i)
      for (int64_t k = 0; k < h; ++k)
        y(i, k) = x(i, swap ? k + h : k) / (1 + std::exp(-x(i, swap ? k : k + h)));
    return SUCCESS;
  }
  template <bool kWrong>
  Status GluGrad(View<const double> x, View<const double> g, View<double> gx, bool swap) {
    const int64_t h = x.Dim(1) / 2;
    if (x.Dim(1) % 2 != 0) return Status::Error("an even dimension is needed");
    if (kWrong) swap = false;
    for (int64_t i = 0; i < x.Dim(0); ++i)
      for (int64_t k = 0; k < h; ++k) {
        const int64_t u = swap ? k + h : k, v = swap ? k : k + h;
        const double s = 1 / (1 + std::exp(-x(i, v)));
        gx(i, u) = g(i, k) * s;
        gx(i, v) = g(i, k) * x(i, u) * s * (1 - s);
      }
    return SUCCESS;
  }
  OPWRIGHT_FUNCTION(glu_right, Glu<false>)
  OPWRIGHT_FUNCTION(glu_right_grad, GluGrad<false>)
  OPWRIGHT_FUNCTION(glu_wrong, Glu<true>)
  OPWRIGHT_FUNCTION(glu_wrong_grad, GluGrad<true>)

  template <int kWrong>
  Status Heads(View<const double> x, View<double> y, int64_t heads) {
    if (heads < 1 || x.Dim(1) % heads != 0) return Status::Error("heads do not divide it");
    if (kWrong == 2 && heads != 4) return Status::Error("four heads are needed");
    const double scale = std::sqrt(double(heads));
    for (int64_t k = 0; k < x.Size(); ++k) y.Data()[k] = x.Data()[k] * scale;
    return SUCCESS;
  }
  template <int kWrong>
  Status HeadsGrad(View<const double>, View<const double> g, View<double> gx, int64_t heads) {
    const double scale = kWrong == 1 ? 2 : std::sqrt(double(heads));
    for (int64_t k = 0; k < g.Size(); ++k) gx.Data()[k] = g.Data()[k] * scale;
    return SUCCESS;
  }
  OPWRIGHT_FUNCTION(heads_right, Heads<0>)
  OPWRIGHT_FUNCTION(heads_right_grad, HeadsGrad<0>)
  OPWRIGHT_FUNCTION(heads_wrong, Heads<1>)
  OPWRIGHT_FUNCTION(heads_wrong_grad, HeadsGrad<1>)
  OPWRIGHT_FUNCTION(heads_of_four, Heads<2>)
  OPWRIGHT_FUNCTION(heads_of_four_grad, HeadsGrad<2>)

  // Of many elements only: no smaller shape goes with a value that is missing.
  template <bool kWrong>
  Status Large(View<const double> x, View<double> y, bool twice) {
    if (x.Size() < 16500) return Status::Error("a large input is needed");
    for (int64_t k = 0; k < x.Size(); ++k) y.Data()[k] = (twice ? 2 : 1) * x.Data()[k];
    return SUCCESS;
  }
  template <bool kWrong>
  void LargeGrad(View<const double>, View<const double> g, View<double> gx, bool twice) {
    for (int64_t k = 0; k < g.Size(); ++k) gx.Data()[k] = (twice && !kWrong ? 2 : 1) * g.Data()[k];
  }
  OPWRIGHT_FUNCTION(large_right, Large<false>)
  OPWRIGHT_FUNCTION(large_right_grad, LargeGrad<false>)
  OPWRIGHT_FUNCTION(large_wrong, Large<true>)
  OPWRIGHT_FUNCTION(large_wrong_grad, LargeGrad<true>)
)cc";

std::string With(const std::string& metadef, const std::string& attr, const std::string& rule) {
  return WithFields(metadef, StrCat(rule.empty() ? "" : ", \"shape_rule\": " + rule,
                                    ", \"attr\": [{", attr, ", \"param_type\": \"optional\"}]"));
}

const std::string& Library() {
  static const std::string& path = *new std::string([] {
    std::vector<std::string> metadefs;
    const std::string all = "\"m\", \"n\"";
    for (const std::string name :
         {"glu_right", "glu_wrong", "heads_right", "heads_wrong", "heads_of_four"}) {
      const bool glu = name.starts_with("glu");
      const std::string y = glu ? "\"m\", -1" : all;
      const std::string attr = glu ? R"("name": "swap", "type": "bool", "default_value": false)"
                                   : R"("name": "heads", "type": "int", "default_value": 4)";
      metadefs.push_back(With(Metadef(name, {"x: " + all}, {"y: " + y}, "", name + "_grad"), attr,
                              glu ? R"(["m", "n // 2"])" : ""));
      metadefs.push_back(With(
          Metadef(name + "_grad", {"x: " + all, "grad_y: " + y}, {"grad_x: " + all}, "forward"),
          attr, ""));
    }
    const std::string four = R"("a", "b", "c", "d")";
    const std::string attr = R"("name": "twice", "type": "bool", "default_value": false)";
    for (const std::string name : {"large_right", "large_wrong"}) {
      metadefs.push_back(
          With(Metadef(name, {"x: " + four}, {"y: " + four}, "same(x)", name + "_grad"), attr, ""));
      metadefs.push_back(With(Metadef(name + "_grad", {"x: " + four, "grad_y: " + four},
                                      {"grad_x: " + four}, "forward"),
                              attr, ""));
    }
    return BuildLibrary("few_shapes", kSource, metadefs);
  }());
  return path;
}

TEST(FewShapes, MeetBothValuesOfAnAttributeAtEverySeed) {
  for (uint64_t seed = 1; seed <= Times(4); ++seed)
    for (const std::string name : {"glu", "heads", "large"}) {
      const OperatorReport right = CheckOne(Library(), name + "_right", 60, seed);
      EXPECT_EQ(right.verdict, Verdict::kRight) << TextOf(right);
      EXPECT_TRUE(right.findings.empty()) << TextOf(right);
      const OperatorReport wrong = CheckOne(Library(), name + "_wrong", 60, seed);
      EXPECT_EQ(wrong.verdict, Verdict::kWrong) << TextOf(wrong);
    }
}

TEST(FewShapes, OfWhichNoneGoesWithAValueAreTold) {
  const OperatorReport op = CheckOne(Library(), "heads_of_four");
  EXPECT_EQ(op.verdict, Verdict::kRight) << TextOf(op);
  ASSERT_EQ(op.findings.size(), 1u) << TextOf(op);
  EXPECT_EQ(op.findings[0].id, "CK024");
  EXPECT_EQ(op.findings[0].argument, "attribute heads=5");
}

}  // namespace
}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// Operators whose dtype columns differ in more than width, or of which only some have a gradient.
#include "library.h"

namespace opwright::check {
namespace {

constexpr char kSource[] = R"cc(
#include <opwright/kernel.h>
  using opwright::View;
  template <class T>
  void Copy(View<const T> x, View<T> y) {
    for (int64_t i = 0; i < y.Size(); ++i) y.Data()[i] = x.Data()[i];
  }
  OPWRIGHT_FUNCTION(copied, Copy)
  template <class T>
  void CopyGrad(View<const T>, View<const T> g, View<T> gx) {
    for (int64_t i = 0; i < g.Size(); ++i) gx.Data()[i] = g.Data()[i];
  }
  OPWRIGHT_FUNCTION(copied_grad, CopyGrad)

  template <class T>
  void Steep(View<const T> x, View<T> y) {
    for (int64_t i = 0; i < y.Size(); ++i) {
      T v = x.Data()[i];
      for (int k = 0; k < 4; ++k) v *= v;
      y.Data()[i] = v;
    }
  }
  OPWRIGHT_FUNCTION(steep, Steep)
  void Aside(View<const double> x, View<double> y) {
    Steep(x, y);
    for (int64_t i = 0; i < y.Size(); ++i) y.Data()[i] *= 1.01;
  }
  void Aside(View<const float> x, View<float> y) { Steep(x, y); }
  OPWRIGHT_FUNCTION(steep_aside, Aside)
  void SteepGrad(View<const float> x, View<const float> g, View<float> gx) {
    for (int64_t i = 0; i < g.Size(); ++i) {
      const double v = x.Data()[i], p = v * v * v;
      gx.Data()[i] = static_cast<float>(16 * p * p * p * p * p * g.Data()[i]);
    }
  }
  OPWRIGHT_FUNCTION(steep_grad, SteepGrad)
  OPWRIGHT_FUNCTION(steep_aside_grad, SteepGrad)
)cc";

const std::string& Library() {
  static const std::string path = [] {
    const auto forward = [](const std::string& name, const std::string& dtypes) {
      return Metadef(name, {"x: -2"}, {"y: -2"}, "same(x)", name + "_grad", dtypes);
    };
    const auto backward = [](const std::string& name, const std::string& dtypes) {
      return Metadef(name + "_grad", {"x: -2", "grad_y: -2"}, {"grad_x: -2"}, "same(x)", "",
                     dtypes);
    };
    std::vector<std::string> metadefs;
    const std::string both = "\"float32\", \"int32\"";
    metadefs = {forward("copied", both), backward("copied", both)};
    for (const char* name : {"steep", "steep_aside"}) {
      metadefs.push_back(forward(name, "\"float32\", \"float64\""));
      metadefs.push_back(backward(name, "\"float32\""));
    }
    return BuildLibrary("columns", kSource, metadefs);
  }();
  return path;
}

TEST(ColumnsOf, AnIntegerColumnThatTheBackwardHasTooIsNoGradient) {
  const OperatorReport op = CheckOne(Library(), "copied");
  EXPECT_EQ(op.verdict, Verdict::kRight) << TextOf(op);
}

TEST(ColumnsOf, TheNarrowerOneSetsHowFarTheyMayDiffer) {
  const OperatorReport op = CheckOne(Library(), "steep");
  EXPECT_EQ(op.verdict, Verdict::kRight) << TextOf(op);
  EXPECT_NE(FindingOf(op, "CK017"), nullptr) << TextOf(op);
}

TEST(ColumnsOf, AWideOneWithoutAGradientIsComparedWithTheNarrowOne) {
  const OperatorReport op = CheckOne(Library(), "steep_aside");
  EXPECT_EQ(op.verdict, Verdict::kWrong) << TextOf(op);
  ASSERT_NE(FindingOf(op, "CK016"), nullptr) << TextOf(op);
  EXPECT_NE(FindingOf(op, "CK016")->case_text.find("float64"), std::string::npos);
}

}  // namespace
}  // namespace opwright::check

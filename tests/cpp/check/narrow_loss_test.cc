// SPDX-License-Identifier: Apache-2.0
//
// One loss in float16 alone: its rounding is the same in all differences, and is no factor of the
// gradient. A factor that there is shows where each element moves an output of its own, and a large
// one everywhere.
#include "library.h"

namespace opwright::check {
namespace {

constexpr char kMean[] = R"cc(
  template <class T>
  void F_NAME(View<const T> x, View<T> loss) {
    double sum = 0;
    for (int64_t i = 0; i < x.Size(); ++i) sum += float(x(i)) + 3;
    loss.Data()[0] = T(float(sum / double(x.Size())));
  }
  OPWRIGHT_FUNCTION(NAME, F_NAME)
  template <class T>
  void B_NAME(View<const T> x, View<const T> g, View<T> gx) {
    for (int64_t i = 0; i < x.Size(); ++i)
      gx(i) = T(float(g.Data()[0]) / float(x.Size()) * float(OFF));
  }
  OPWRIGHT_FUNCTION(NAME_grad, B_NAME)
)cc";

// Against targets of a quarter.
constexpr char kEntropy[] = R"cc(
  template <class T>
  void F_NAME(View<const T> x, View<T> loss) {
    double sum = 0;
    for (int64_t i = 0; i < x.Size(); ++i) {
      const double v = float(x(i));
      sum += std::log1p(std::exp(-std::fabs(v))) + (v > 0 ? v : 0) - 0.25 * v;
    }
    loss.Data()[0] = T(float(sum / double(x.Size())));
  }
  OPWRIGHT_FUNCTION(NAME, F_NAME)
  template <class T>
  void B_NAME(View<const T> x, View<const T> g, View<T> gx) {
    for (int64_t i = 0; i < x.Size(); ++i) {
      const float s = 1 / (1 + std::exp(-float(x(i))));
      gx(i) = T(float(g.Data()[0]) / float(x.Size()) * (s - 0.25f) * float(OFF));
    }
  }
  OPWRIGHT_FUNCTION(NAME_grad, B_NAME)
)cc";

constexpr char kSine[] = R"cc(
  template <class T>
  void F_NAME(View<const T> x, View<T> y) {
    for (int64_t i = 0; i < x.Size(); ++i) y(i) = T(std::sin(float(x(i))));
  }
  OPWRIGHT_FUNCTION(NAME, F_NAME)
  template <class T>
  void B_NAME(View<const T> x, View<const T> g, View<T> gx) {
    for (int64_t i = 0; i < x.Size(); ++i)
      gx(i) = T(float(g(i)) * std::cos(float(x(i))) * float(OFF));
  }
  OPWRIGHT_FUNCTION(NAME_grad, B_NAME)
)cc";

// At zeros all of its values are one, and are rounded alike.
constexpr char kShift[] = R"cc(
  template <class T>
  void F_NAME(View<const T> x, View<T> y) {
    for (int64_t i = 0; i < x.Size(); ++i) y(i) = T(2.1f + 0.06f * std::tanh(float(x(i))));
  }
  OPWRIGHT_FUNCTION(NAME, F_NAME)
  template <class T>
  void B_NAME(View<const T> x, View<const T> g, View<T> gx) {
    for (int64_t i = 0; i < x.Size(); ++i) {
      const float t = std::tanh(float(x(i)));
      gx(i) = T(float(g(i)) * 0.06f * (1 - t * t) * float(OFF));
    }
  }
  OPWRIGHT_FUNCTION(NAME_grad, B_NAME)
)cc";

struct Narrow {
  const char* op;
  const char* source;
  const char* off;
  bool right;
};

constexpr Narrow kOperators[] = {
    {"mean", kMean, "1", true},
    {"mean_sum", kMean, "x.Size()", false},
    {"mean_sign", kMean, "-1", false},
    {"mean_half", kMean, "0.5", false},
    {"entropy", kEntropy, "1", true},
    {"entropy_sum", kEntropy, "x.Size()", false},
    {"entropy_sign", kEntropy, "-1", false},
    {"entropy_half", kEntropy, "0.5", false},
    {"shift", kShift, "1", true},
    {"shift_sign", kShift, "-1", false},
    {"sine", kSine, "1", true},
    {"sine_off", kSine, "1.02", false},
};

const std::string& Library() {
  static const std::string& path = *new std::string([] {
    std::string source =
        "#include <opwright/kernel.h>\n#include <cmath>\n  using opwright::View;\n";
    std::vector<std::string> metadefs;
    const std::string dtypes = "\"float16\"";
    for (const Narrow& narrow : kOperators) {
      const std::string name = narrow.op;
      source += Replaced(Replaced(narrow.source, "NAME", name), "OFF", narrow.off);
      const std::string y = narrow.source == kSine || narrow.source == kShift ? "\"n\"" : "";
      metadefs.push_back(Metadef(name, {"x: \"n\""}, {"y: " + y}, "", name + "_grad", dtypes));
      metadefs.push_back(Metadef(name + "_grad", {"x: \"n\"", "grad_y: " + y}, {"grad_x: \"n\""},
                                 "forward", "", dtypes));
    }
    return BuildLibrary("narrow_loss", source, metadefs);
  }());
  return path;
}

TEST(NarrowLosses, ThatAreRoundedAreRight) {
  for (const Narrow& narrow : kOperators)
    for (uint64_t seed = 0; seed < Times(6) && narrow.right; ++seed) {
      const OperatorReport op = CheckOne(Library(), narrow.op, 60, seed);
      EXPECT_EQ(op.verdict, Verdict::kRight) << "seed " << seed << "\n" << TextOf(op);
    }
}

TEST(NarrowLosses, WithAFactorThatIsWrongAreFound) {
  for (const Narrow& narrow : kOperators)
    for (uint64_t seed = 0; seed < Times(3) && !narrow.right; ++seed) {
      const OperatorReport op = CheckOne(Library(), narrow.op, 60, seed);
      EXPECT_EQ(op.verdict, Verdict::kWrong) << "seed " << seed << "\n" << TextOf(op);
    }
}

TEST(NarrowLosses, TellAFactorNearOneWithEnoughDigits) {
  const OperatorReport op = CheckOne(Library(), "sine_off");
  const GradientRow* const row = RowOf(op, "x");
  ASSERT_NE(row, nullptr);
  EXPECT_NE(row->kind.find(" 1.02 times what is right"), std::string::npos) << TextOf(op);
}

}  // namespace
}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// Where differences say little: kinks, singular points, columns of an ill-conditioned function.
// What is right is never called wrong there, and what is wrong at one point only is found.
#include "library.h"

namespace opwright::check {
namespace {

struct Op {
  const char* name;
  const char* f;  // of v, in the dtype T
  const char* df;
  const char* dtypes;
};

constexpr const char* kWide = "\"float64\"";
constexpr const char* kColumns = "\"float64\", \"float32\"";
constexpr const char* kNarrow = "\"float32\"";

// Functions with values that come near to where they are singular.
const std::vector<Op>& RightOps() {
  static const std::vector<Op>& ops = *new std::vector<Op>{
      {"arc_cosine", "std::acos(v)", "-1 / std::sqrt(1 - v * v)", kColumns},
      {"arc_cosine_wide", "std::acos(v)", "-1 / std::sqrt(1 - v * v)", kWide},
      {"arc_cosine_narrow", "std::acos(v)", "-1 / std::sqrt(1 - v * v)", kNarrow},
      {"arc_tangent_h", "std::atanh(v)", "1 / (1 - v * v)", kColumns},
      {"arc_tangent_h_wide", "std::atanh(v)", "1 / (1 - v * v)", kWide},
      {"arc_tangent_h_narrow", "std::atanh(v)", "1 / (1 - v * v)", kNarrow},
      {"log_one_plus", "std::log1p(v)", "1 / (1 + v)", kColumns},
      {"log_one_plus_narrow", "std::log1p(v)", "1 / (1 + v)", kNarrow},
      {"exp_less_one", "1 / (std::exp(v) - 1)",
       "-std::exp(v) / ((std::exp(v) - 1) * (std::exp(v) - 1))", kColumns},
      {"tangent", "std::tan(v)", "1 / (std::cos(v) * std::cos(v))", kColumns},
      {"positive_part", "v > 0 ? v : 0", "v > 0 ? 1 : 0", kWide},
      {"positive_part_one", "v > 0 ? v : 0", "v >= 0 ? 1 : 0", kWide},
      {"positive_part_half", "v > 0 ? v : 0", "v > 0 ? 1 : v < 0 ? 0 : 0.5", kWide},
      {"positive_part_narrow", "v > 0 ? v : 0", "v > 0 ? 1 : 0", kNarrow},
      {"magnitude", "std::fabs(v)", "(v > 0) - (v < 0)", kColumns},
      {"magnitude_one", "std::fabs(v)", "v >= 0 ? 1 : -1", kWide},
      {"clamp", "v < -0.5 ? -0.5 : v > 0 ? 0 : v", "v >= -0.5 && v <= 0 ? 1 : 0", kColumns},
      {"shrink", "v > 0.5 ? v - T(0.5) : v < -0.5 ? v + T(0.5) : 0", "v > 0.5 || v < -0.5 ? 1 : 0",
       kWide},
      {"signed_square", "v * std::fabs(v)", "2 * std::fabs(v)", kWide},
      {"steep_power", "std::pow(std::fabs(v), T(1.5))",
       "1.5 * std::sqrt(std::fabs(v)) * ((v > 0) - (v < 0))", kWide},
      {"heaviside", "v > 0 ? 1 : 0", "0", kWide},
      {"cardinal_sine", "v == 0 ? 1 : std::sin(v) / v",
       "v == 0 ? 0 : (std::cos(v) - std::sin(v) / v) / v", kWide},
      {"cardinal_sine_cancels", "v == 0 ? 1 : std::sin(v) / v",
       "v == 0 ? 0 : (std::cos(v) * v - std::sin(v)) / (v * v)", kColumns},
      {"exp_quotient", "v == 0 ? 1 : (std::exp(v) - 1) / v",
       "v == 0 ? T(0.5) : (std::exp(v) * v - (std::exp(v) - 1)) / (v * v)", kColumns},
      {"guarded_sign", "v / std::max(std::fabs(v), T(1e-12))", "std::fabs(v) > T(1e-12) ? 0 : 1e12",
       kWide},
      {"eased_sign", "v / (std::fabs(v) + T(1e-8))",
       "T(1e-8) / ((std::fabs(v) + T(1e-8)) * (std::fabs(v) + T(1e-8)))", kWide},
      {"smooth_sign", "v / std::sqrt(v * v + T(1e-12))",
       "T(1e-12) / std::pow(v * v + T(1e-12), T(1.5))", kWide},
      {"tiny_shrink", "std::fabs(v) > T(1e-6) ? v : 0", "std::fabs(v) > T(1e-6) ? 1 : 0", kWide},
      {"logarithm", "std::log(v)", "1 / v", kWide},
      {"root", "std::sqrt(v)", "0.5 / std::sqrt(v)", kColumns},
  };
  return ops;
}

// Right everywhere but at 0, and what is wrong there.
const std::vector<Op>& WrongAtZero() {
  static const std::vector<Op>& ops = *new std::vector<Op>{
      {"zero_square", "v * v", "v == 0 ? 1 : 2 * v", kWide},
      {"zero_line", "3 * v", "v == 0 ? 0 : 3", kWide},
      {"zero_positive_part", "v > 0 ? v : 0", "v > 0 ? 1 : v < 0 ? 0 : 5", kWide},
      {"zero_positive_part_minus", "v > 0 ? v : 0", "v > 0 ? 1 : v < 0 ? 0 : -1", kWide},
      {"zero_magnitude", "std::fabs(v)", "v == 0 ? 2 : (v > 0) - (v < 0)", kWide},
      {"zero_magnitude_nan", "std::fabs(v)", "v / std::fabs(v)", kWide},
      {"zero_magnitude_narrow", "std::fabs(v)", "v == 0 ? 2 : (v > 0) - (v < 0)", kNarrow},
      {"zero_signed_square", "v * std::fabs(v)", "v == 0 ? 1 : 2 * std::fabs(v)", kWide},
      {"zero_steep_power", "std::pow(std::fabs(v), T(1.5))",
       "v == 0 ? 1 : 1.5 * std::sqrt(std::fabs(v)) * ((v > 0) - (v < 0))", kWide},
      {"zero_cardinal_sine", "v == 0 ? 1 : std::sin(v) / v", "(std::cos(v) - std::sin(v) / v) / v",
       kWide},
  };
  return ops;
}

// Wrong near the singular points too, where much is allowed.
const std::vector<Op>& WrongOps() {
  static const std::vector<Op>& ops = *new std::vector<Op>{
      {"bad_arc_cosine", "std::acos(v)", "1 / std::sqrt(1 - v * v)", kColumns},
      {"bad_arc_cosine_column", "std::acos(v)",
       "(sizeof(T) == 4 ? -1.01 : -1) / std::sqrt(1 - v * v)", kColumns},
      {"bad_arc_tangent_h", "std::atanh(v)", "1 / (1 - v)", kColumns},
      {"bad_log_one_plus", "std::log1p(v)", "1 / (2 + v)", kColumns},
      {"bad_log_one_plus_column", "std::log1p(v)", "1 / (1 + v + (sizeof(T) == 4 ? 0.01 : 0))",
       kColumns},
      {"bad_magnitude", "std::fabs(v)", "1", kWide},
      {"bad_beyond_six", "v < 0 ? 0 : v > 6 ? 6 : v", "v > 0 ? 1 : 0", kWide},
      {"bad_beyond_ten", "std::fabs(v) < 10 ? v * v / 2 : 10 * std::fabs(v) - 50", "v", kWide},
      {"bad_beyond_five", "std::exp(std::min(v, T(5)))", "std::exp(std::min(v, T(5)))", kWide},
  };
  return ops;
}

std::string KernelsOf(const Op& op) {
  const auto typed = [](const std::string& body) {
    std::string text;
    for (const char* type : {"double", "float"})
      text += StrCat("    if (in.GetTensor(0).DType().bits == sizeof(", type,
                     ") * 8) { using T = ", type,
                     "; const T* x = in.GetTensor(0).Data<T>(); for (int64_t i = 0; i < ",
                     "in.GetTensor(0).Size(); ++i) { const T v = x[i]; (void)v; ", body, " } }\n");
    return text;
  };
  const std::string name = op.name;
  return Kernel(name,
                typed(StrCat("out->GetTensor(0)->Data<T>()[i] = static_cast<T>(", op.f, ");"))) +
         Kernel(name + "_grad",
                typed(StrCat("out->GetTensor(0)->Data<T>()[i] = static_cast<T>(in.GetTensor(1)",
                             ".Data<T>()[i] * (", op.df, "));")));
}

// Ties, several kinks in one sum, and more than one output.
constexpr char kRows[] = R"cc(
  using opwright::View;
  // The largest of each row: a tie's gradient goes to the first of it.
  void RowMax(View<const double> x, View<double> y) {
    for (int64_t i = 0; i < x.Dim(0); ++i) {
      y(i) = x.Dim(1) > 0 ? x(i, 0) : 0;
      for (int64_t j = 1; j < x.Dim(1); ++j) y(i) = x(i, j) > y(i) ? x(i, j) : y(i);
    }
  }
  void RowMaxGrad(View<const double> x, View<const double> g, View<double> gx) {
    for (int64_t i = 0; i < x.Dim(0); ++i) {
      int64_t at = 0;
      for (int64_t j = 0; j < x.Dim(1); ++j) {
        gx(i, j) = 0;
        if (x(i, j) > x(i, at)) at = j;
      }
      if (x.Dim(1) > 0) gx(i, at) = g(i);
    }
  }
  // Stable: of ties each keeps its place.
  std::vector<int64_t> Order(const View<const double>& x) {
    std::vector<int64_t> order(static_cast<size_t>(x.Size()));
    for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int64_t>(i);
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return x(a) < x(b); });
    return order;
  }
  void Sorted(View<const double> x, View<double> y) {
    int64_t at = 0;
    for (const int64_t k : Order(x)) y(at++) = x(k);
  }
  void SortedGrad(View<const double> x, View<const double> g, View<double> gx) {
    int64_t at = 0;
    for (const int64_t k : Order(x)) gx(k) = g(at++);
  }
  void Middle(View<const double> x, View<double> y) {
    y(0) = x.Size() > 0 ? x(Order(x)[static_cast<size_t>(x.Size() - 1) / 2]) : 0;
  }
  void MiddleGrad(View<const double> x, View<const double> g, View<double> gx) {
    for (int64_t i = 0; i < x.Size(); ++i) gx(i) = 0;
    if (x.Size() > 0) gx(Order(x)[static_cast<size_t>(x.Size() - 1) / 2]) = g(0);
  }
  OPWRIGHT_FUNCTION(sorted, Sorted)
  OPWRIGHT_FUNCTION(sorted_grad, SortedGrad)
  OPWRIGHT_FUNCTION(middle, Middle)
  OPWRIGHT_FUNCTION(middle_grad, MiddleGrad)
  // Both parts: at 0 each output has its kink, and 0 is right for both.
  void Parts(View<const double> x, View<double> up, View<double> down) {
    for (int64_t i = 0; i < x.Size(); ++i) {
      const double v = x.Data()[i];
      up.Data()[i] = v > 0 ? v : 0;
      down.Data()[i] = v < 0 ? -v : 0;
    }
  }
  void PartsGrad(View<const double> x, View<const double> gu, View<const double> gd,
                 View<double> gx) {
    for (int64_t i = 0; i < x.Size(); ++i) {
      const double v = x.Data()[i];
      gx.Data()[i] = v > 0 ? gu.Data()[i] : v < 0 ? -gd.Data()[i] : 0;
    }
  }
  // By the quotient: at a zero the others' product is lost.
  void Times(View<const double> x, View<double> y) {
    y(0) = 1;
    for (int64_t i = 0; i < x.Size(); ++i) y(0) *= x(i);
  }
  void TimesGrad(View<const double> x, View<const double> y, View<const double> g, View<double> gx) {
    for (int64_t i = 0; i < x.Size(); ++i) gx(i) = x(i) == 0 ? 0 : g(0) * y(0) / x(i);
  }
  double kept[4200];
  void Keeps(View<const double> x, View<double> y) {
    for (int64_t i = 0; i < x.Size(); ++i) {
      kept[i] = x(i);
      y(i) = x(i) * x(i);
    }
  }
  void KeepsGrad(View<const double> x, View<const double> g, View<double> gx) {
    for (int64_t i = 0; i < x.Size(); ++i) gx(i) = 2 * kept[i] * g(i);
  }
  OPWRIGHT_FUNCTION(all_times, Times)
  OPWRIGHT_FUNCTION(all_times_grad, TimesGrad)
  // Its gradient in blocks of eight, and what is left over by the first elements' cotangents.
  template <class T>
  void Blocks(opwright::View<const T> x, opwright::View<T> y) {
    for (int64_t i = 0; i < x.Size(); ++i) y.Data()[i] = x.Data()[i] * x.Data()[i];
  }
  template <class T>
  void BlocksGrad(opwright::View<const T> x, opwright::View<const T> grad_y,
                  opwright::View<T> grad_x) {
    const int64_t whole = x.Size() / 8 * 8;
    for (int64_t i = 0; i < x.Size(); ++i)
      grad_x.Data()[i] = 2 * x.Data()[i] * grad_y.Data()[whole > 0 && i >= whole ? i - whole : i];
  }
  OPWRIGHT_FUNCTION(blocks, Blocks)
  OPWRIGHT_FUNCTION(blocks_grad, BlocksGrad)
  OPWRIGHT_FUNCTION(keeps, Keeps)
  OPWRIGHT_FUNCTION(keeps_grad, KeepsGrad)
  OPWRIGHT_FUNCTION(row_max, RowMax)
  OPWRIGHT_FUNCTION(row_max_grad, RowMaxGrad)
  OPWRIGHT_FUNCTION(parts, Parts)
  OPWRIGHT_FUNCTION(parts_grad, PartsGrad)
)cc";

const std::string& Library() {
  static const std::string& path = *new std::string([] {
    std::string source = StrCat(
        "#include <opwright/kernel.h>\n#include <algorithm>\n#include <cmath>\n#include "
        "<vector>\n\n",
        kRows);
    std::vector<std::string> metadefs;
    for (const auto* ops : {&RightOps(), &WrongAtZero(), &WrongOps()})
      for (const Op& op : *ops) {
        const std::string name = op.name;
        source += KernelsOf(op);
        metadefs.push_back(
            Metadef(name, {"x: -2"}, {"y: -2"}, "same(x)", name + "_grad", op.dtypes));
        metadefs.push_back(Metadef(name + "_grad", {"x: -2", "grad_y: -2"}, {"grad_x: -2"},
                                   "forward", "", op.dtypes));
      }
    std::string rows = Metadef("row_max", {"x: \"m\", \"n\""}, {"y: \"m\""}, "m", "row_max_grad");
    rows.replace(rows.find("\"shape_rule\": \"m\""), 17, "\"shape_rule\": [\"m\"]");
    metadefs.push_back(rows);
    metadefs.push_back(Metadef("row_max_grad", {"x: \"m\", \"n\"", "grad_y: \"m\""},
                               {"grad_x: \"m\", \"n\""}, "forward"));
    const std::string n = ": \"n\"";
    metadefs.push_back(Metadef("sorted", {"x" + n}, {"y" + n}, "same(x)", "sorted_grad"));
    metadefs.push_back(Metadef("sorted_grad", {"x" + n, "grad_y" + n}, {"grad_x" + n}, "forward"));
    std::string middle = Metadef("middle", {"x" + n}, {"y: 1"}, "m", "middle_grad");
    middle.replace(middle.find("\"shape_rule\": \"m\""), 17, "\"shape_rule\": [1]");
    metadefs.push_back(middle);
    std::string times = Metadef("all_times", {"x" + n}, {"y: 1"}, "m", "all_times_grad");
    times.replace(times.find("\"shape_rule\": \"m\""), 17, "\"shape_rule\": [1]");
    metadefs.push_back(times);
    metadefs.push_back(
        Metadef("all_times_grad", {"x" + n, "y: 1", "grad_y: 1"}, {"grad_x" + n}, "forward"));
    metadefs.push_back(Metadef("blocks", {"x" + n}, {"y" + n}, "same(x)", "blocks_grad"));
    metadefs.push_back(Metadef("blocks_grad", {"x" + n, "grad_y" + n}, {"grad_x" + n}, "forward"));
    metadefs.push_back(Metadef("keeps", {"x" + n}, {"y" + n}, "same(x)", "keeps_grad"));
    metadefs.push_back(Metadef("keeps_grad", {"x" + n, "grad_y" + n}, {"grad_x" + n}, "forward"));
    metadefs.push_back(Metadef("middle_grad", {"x" + n, "grad_y: 1"}, {"grad_x" + n}, "forward"));
    metadefs.push_back(
        Metadef("parts", {"x: -2"}, {"up: -2", "down: -2"}, "same(x)", "parts_grad"));
    metadefs.push_back(Metadef("parts_grad", {"x: -2", "grad_up: -2", "grad_down: -2"},
                               {"grad_x: -2"}, "same(x)"));
    return BuildLibrary("hard_points", source, metadefs);
  }());
  return path;
}

std::vector<std::string> Names(const std::vector<Op>& ops, std::vector<std::string> names = {}) {
  for (const Op& op : ops) names.emplace_back(op.name);
  return names;
}
std::string NameOf(const testing::TestParamInfo<std::string>& info) { return info.param; }

class RightEverywhere : public testing::TestWithParam<std::string> {};

TEST_P(RightEverywhere, IsNeverCalledWrong) {
  for (uint64_t seed = 1; seed <= Seeds(); ++seed) {
    const OperatorReport op = CheckOne(Library(), GetParam(), 60, seed);
    EXPECT_EQ(op.verdict, Verdict::kRight) << "seed " << seed << "\n" << TextOf(op);
  }
}

INSTANTIATE_TEST_SUITE_P(HardPoints, RightEverywhere,
                         testing::ValuesIn(Names(RightOps(),
                                                 {"row_max", "parts", "sorted", "middle"})),
                         NameOf);

class WrongAtZeroOnly : public testing::TestWithParam<std::string> {};

TEST_P(WrongAtZeroOnly, IsFound) {
  const OperatorReport op = CheckOne(Library(), GetParam());
  EXPECT_EQ(op.verdict, Verdict::kWrong) << TextOf(op);
  ASSERT_FALSE(RowOf(op, "x")->right) << TextOf(op);
  EXPECT_NE(RowOf(op, "x")->case_text.find(" zero"), std::string::npos) << TextOf(op);
}

INSTANTIATE_TEST_SUITE_P(HardPoints, WrongAtZeroOnly, testing::ValuesIn(Names(WrongAtZero())),
                         NameOf);

class WrongNearby : public testing::TestWithParam<std::string> {};

TEST_P(WrongNearby, IsFound) {
  const OperatorReport op = CheckOne(Library(), GetParam());
  EXPECT_EQ(op.verdict, Verdict::kWrong) << TextOf(op);
  const bool column = GetParam().ends_with("_column");
  EXPECT_EQ(RowOf(op, "x")->right, column) << TextOf(op);
  EXPECT_EQ(FindingOf(op, "CK016") != nullptr, column) << TextOf(op);
}

INSTANTIATE_TEST_SUITE_P(HardPoints, WrongNearby, testing::ValuesIn(Names(WrongOps())), NameOf);

TEST(HardPoints, AQuotientOfAProductIsFoundAtItsZero) {
  const OperatorReport op = CheckOne(Library(), "all_times");
  EXPECT_EQ(op.verdict, Verdict::kWrong) << TextOf(op);
  EXPECT_NE(RowOf(op, "x")->case_text.find("zero"), std::string::npos) << TextOf(op);
}

TEST(HardPoints, WhatBlocksLeaveOverIsCompared) {
  for (uint64_t seed = 1; seed <= Times(5); ++seed) {
    const OperatorReport op = CheckOne(Library(), "blocks", 60, seed);
    EXPECT_FALSE(RowOf(op, "x")->right) << "seed " << seed << "\n" << TextOf(op);
  }
}

TEST(HardPoints, ABackwardCallMayNotUseTheLastForwardsValues) {
  const OperatorReport op = CheckOne(Library(), "keeps");
  EXPECT_FALSE(RowOf(op, "x")->right) << TextOf(op);
}

// Half of normal values have no logarithm; the other half does not suffer.
TEST(HardPoints, OutputsThatAreNotFiniteLeaveTheOthersToBeCompared) {
  const OperatorReport op = CheckOne(Library(), "logarithm");
  EXPECT_EQ(op.verdict, Verdict::kRight) << TextOf(op);
  EXPECT_GT(RowOf(op, "x")->elements, RowOf(op, "x")->skipped / 2) << TextOf(op);
}

// An allowed slope at a kink is compared, not left out.
TEST(HardPoints, AKinkIsDecidedByTheSlopesOfItsSides) {
  for (const char* name : {"positive_part", "magnitude", "parts"}) {
    const OperatorReport op = CheckOne(Library(), name);
    EXPECT_EQ(RowOf(op, "x")->skipped, 0) << TextOf(op);
  }
}

// acos is not finite for the larger half of normal values.
TEST(HardPoints, AShareThatIsLeftOutIsToldWhenItIsLarge) {
  const OperatorReport op = CheckOne(Library(), "arc_cosine_wide");
  const GradientRow& row = *RowOf(op, "x");
  char share[16];
  snprintf(
      share, sizeof share, "%.2g %%",
      100.0 * static_cast<double>(row.skipped) / static_cast<double>(row.skipped + row.elements));
  const Finding* found = FindingOf(op, "CK020");
  ASSERT_NE(found, nullptr) << TextOf(op);
  EXPECT_EQ(found->severity, Severity::kWarning);
  EXPECT_EQ(found->argument, "gradient of input x");
  EXPECT_TRUE(found->message.starts_with(StrCat("of the gradient of x, ", row.skipped, " of ",
                                                row.skipped + row.elements, " elements (", share,
                                                ") could not be compared: ")))
      << found->message;
  EXPECT_NE(TextOf(op).find(StrCat(row.skipped, " left out (", share, ": ")), std::string::npos)
      << TextOf(op);
  EXPECT_EQ(FindingOf(CheckOne(Library(), "magnitude"), "CK020"), nullptr);
}

}  // namespace
}  // namespace opwright::check

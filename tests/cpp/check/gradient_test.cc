// SPDX-License-Identifier: Apache-2.0
//
// Backward kernels that are wrong in one way each, and right ones that are hard to judge.
#include "check/gradient.h"

#include "library.h"

namespace opwright::check {
namespace {

constexpr char kTensors[] =
    "    const double* x = in.GetTensor(0).Data<double>();\n    const double* b = "
    "in.GetTensor(1).Data<double>();\n"
    "    const double* s = in.GetTensor(2).Data<double>();\n    const int64_t n = "
    "in.GetTensor(1).Size();\n"
    "    const int64_t rows = n == 0 ? 0 : in.GetTensor(0).Size() / n;\n    (void)x; (void)b; "
    "(void)s;\n";

// y = (x + b) * s, s and b of the last dimension.
std::string ScaleForward(const std::string& name) {
  return Kernel(
      name,
      StrCat(kTensors,
             "    double* y = out->GetTensor(0)->Data<double>();\n"
             "    for (int64_t i = 0; i < rows * n; ++i) y[i] = (x[i] + b[i % n]) * s[i % n];"));
}

// Its gradient; each part can be replaced.
struct Parts {
  std::string x = "for (int64_t i = 0; i < rows * n; ++i) gx[i] = g[i] * s[i % n];";
  std::string b = "for (int64_t i = 0; i < rows * n; ++i) gb[i % n] += g[i] * s[i % n];";
  std::string s = "for (int64_t i = 0; i < rows * n; ++i) gs[i % n] += g[i] * (x[i] + b[i % n]);";
};
std::string ScaleBackward(const std::string& name, const Parts& parts) {
  return Kernel(
      name,
      StrCat(kTensors,
             "    const double* g = in.GetTensor(3).Data<double>();\n"
             "    double* gx = out->GetTensor(0)->Data<double>();\n    double* gb = "
             "out->GetTensor(1)->Data<double>();\n"
             "    double* gs = out->GetTensor(2)->Data<double>();\n"
             "    for (int64_t i = 0; i < n; ++i) gb[i] = gs[i] = 0;\n    (void)g; (void)gx;\n    ",
             parts.x, "\n    ", parts.b, "\n    ", parts.s));
}

struct Wrong {
  const char* op;
  Parts parts;
  const char* input;
  const char* kind;
};

const std::vector<Wrong>& ScaleVariants() {
  static const std::vector<Wrong>& variants = *new std::vector<Wrong>{
      {"all_right", {}, "", ""},
      {"bias_not_reduced",
       {.b = "for (int64_t i = 0; i < rows * n; ++i) gb[i % n] = g[i] * s[i % n];"},
       "b",
       "not reduced"},
      {"scale_left_out",
       {.x = "for (int64_t i = 0; i < rows * n; ++i) gx[i] = g[i];"},
       "x",
       "passed through"},
      {"bias_lacks_scale",
       {.b = "for (int64_t i = 0; i < rows * n; ++i) gb[i % n] += g[i];"},
       "b",
       "missing factor: times s"},
      {"twice_too_large",
       {.x = "for (int64_t i = 0; i < rows * n; ++i) gx[i] = 2 * g[i] * s[i % n];"},
       "x",
       "every element is 2 times what is right"},
      {"minus",
       {.s = "for (int64_t i = 0; i < rows * n; ++i) gs[i % n] -= g[i] * (x[i] + b[i % n]);"},
       "s",
       "sign"},
      {"exchanged",
       {.b = "for (int64_t i = 0; i < rows * n; ++i) gs[i % n] += g[i] * s[i % n];",
        .s = "for (int64_t i = 0; i < rows * n; ++i) gb[i % n] += g[i] * (x[i] + b[i % n]);"},
       "s",
       "swapped inputs: it is the gradient of b"},
      {"third_input_zero", {.s = ""}, "s", "zero"},
      {"two_columns",
       {.s = "for (int64_t i = 0; i < rows * n; ++i) if (i % n < 2) gs[i % n] += g[i] * (x[i] + "
             "b[i % n]);"},
       "s",
       "a part of it: index 2"},
      {"all_ones",
       {.x = "for (int64_t i = 0; i < rows * n; ++i) gx[i] = s[i % n];"},
       "x",
       "the output's gradient is ignored"},
      {"writes_dout",
       {.x = "for (int64_t i = 0; i < rows * n; ++i) gx[i] = g[i] * s[i % n]; if (rows * n > 0) "
             "const_cast<double*>(g)[0] *= 2;"},
       "",
       ""},
      {"unwritten_gradient",
       {.x = "for (int64_t i = 1; i < rows * n; ++i) gx[i] = g[i] * s[i % n];"},
       "",
       ""},
      {"refuses_equal_numbers",
       {.x = "bool equal = rows * n > 2; for (int64_t i = 1; i < rows * n; ++i) equal = equal && "
             "g[i] == g[0]; if (equal) return opwright::Status::Error(\"all the same\"); for "
             "(int64_t i = 0; i < rows * n; ++i) gx[i] = g[i] * s[i % n];"},
       "",
       ""},
      {"refuses_matrices",
       {.x = "if (rows > 1) return opwright::Status::Error(\"one row only\");"},
       "",
       ""},
  };
  return variants;
}

std::string MatMul(const std::string& name, const std::string& grad_a) {
  const std::string tensors =
      "    const double* a = in.GetTensor(0).Data<double>();\n    const double* b = "
      "in.GetTensor(1).Data<double>();\n"
      "    const int64_t m = in.GetTensor(0).Shape()[0], k = in.GetTensor(0).Shape()[1], n = "
      "in.GetTensor(1).Shape()[1];\n";
  return Kernel(name, tensors +
                          "    double* c = out->GetTensor(0)->Data<double>();\n"
                          "    for (int64_t i = 0; i < m; ++i) for (int64_t j = 0; j < n; ++j) { "
                          "double t = 0; "
                          "for (int64_t l = 0; l < k; ++l) t += a[i * k + l] * b[l * n + j]; c[i * "
                          "n + j] = t; }") +
         Kernel(name + "_grad",
                tensors +
                    "    const double* g = in.GetTensor(2).Data<double>();\n"
                    "    double* ga = out->GetTensor(0)->Data<double>();\n    double* gb = "
                    "out->GetTensor(1)->Data<double>();\n"
                    "    for (int64_t i = 0; i < m; ++i) for (int64_t l = 0; l < k; ++l) { double "
                    "t = 0; "
                    "for (int64_t j = 0; j < n; ++j) t += g[i * n + j] * b[l * n + j]; " +
                    grad_a +
                    " }\n"
                    "    for (int64_t l = 0; l < k; ++l) for (int64_t j = 0; j < n; ++j) { double "
                    "t = 0; "
                    "for (int64_t i = 0; i < m; ++i) t += g[i * n + j] * a[i * k + l]; gb[l * n + "
                    "j] = t; }");
}

// One input and output of any rank, by element; f and df are expressions of v, T the dtype.
std::string Pointwise(const std::string& name, const std::string& f, const std::string& df,
                      const std::string& dtypes) {
  const auto typed = [&](const std::string& body) {
    std::string text;
    for (const char* type : {"double", "float", "opwright::bfloat16"})
      text += StrCat(
          "    if (in.GetTensor(0).DType().bits == sizeof(", type, ") * 8) { using T = ", type,
          "; const T* x = in.GetTensor(0).Data<T>(); const int64_t n = in.GetTensor(0).Size(); ",
          body, " }\n");
    return text;
  };
  (void)dtypes;
  return Kernel(name, typed(StrCat("T* y = out->GetTensor(0)->Data<T>(); for (int64_t i = 0; i < "
                                   "n; ++i) { const auto v = x[i] + 0; y[i] = static_cast<T>(",
                                   f, "); }"))) +
         Kernel(name + "_grad",
                typed(StrCat(
                    "const T* g = in.GetTensor(1).Data<T>(); T* gx = out->GetTensor(0)->Data<T>(); "
                    "for (int64_t i = 0; i < n; ++i) { const auto v = x[i] + 0; gx[i] = "
                    "static_cast<T>(g[i] * (",
                    df, ")); }")));
}

struct PointwiseOp {
  const char* op;
  const char* f;
  const char* df;
  const char* dtypes;
};
const std::vector<PointwiseOp>& PointwiseOps() {
  static const std::vector<PointwiseOp>& ops = *new std::vector<PointwiseOp>{
      {"cube_single", "v * v * v", "3 * v * v", "\"float32\""},
      {"cube_columns", "v * v * v", "3 * v * v", "\"float64\", \"float32\", \"bfloat16\""},
      {"cube_bad_column", "v * v * v", "(sizeof(T) == 2 ? 2 : 3) * v * v",
       "\"float64\", \"float32\", \"bfloat16\""},
      {"bfloat_only", "v * v", "2 * v", "\"bfloat16\""},
      {"bfloat_wrong", "v * v", "v", "\"bfloat16\""},
      {"root", "__builtin_sqrt(v)", "0.5 / __builtin_sqrt(v)", "\"float64\""},
      {"steps", "__builtin_floor(v)", "1", "\"float64\""},
  };
  return ops;
}

const std::string& Library() {
  static const std::string& path = *new std::string([] {
    std::string source = "#include <opwright/kernel.h>\n\n";
    std::vector<std::string> metadefs;
    const std::vector<std::string> in = {"x: \"...\", \"n\"", "b: \"n\"", "s: \"n\""};
    for (const Wrong& variant : ScaleVariants()) {
      const std::string name = variant.op;
      source += ScaleForward(name) + ScaleBackward(name + "_grad", variant.parts);
      metadefs.push_back(Metadef(name, in, {"y: \"...\", \"n\""}, "same(x)", name + "_grad"));
      metadefs.push_back(Metadef(name + "_grad", {in[0], in[1], in[2], "grad_y: \"...\", \"n\""},
                                 {"grad_x: \"...\", \"n\"", "grad_b: \"n\"", "grad_s: \"n\""},
                                 "forward"));
    }
    const std::vector<std::string> ab = {"a: \"m\", \"k\"", "b: \"k\", \"n\""};
    for (const auto& [name, grad_a] :
         {std::pair<std::string, std::string>{"product", "ga[i * k + l] = t;"},
          {"product_turned", "ga[l * m + i] = t;"},
          {"product_square", "ga[i * m + l] = t;"}}) {
      source += MatMul(name, grad_a);
      metadefs.push_back(Metadef(name, ab, {"c: \"m\", \"n\""}, "[m, n]", name + "_grad"));
      metadefs.back().replace(metadefs.back().find("\"[m, n]\""), 8, "[\"m\", \"n\"]");
      metadefs.push_back(Metadef(name + "_grad", {ab[0], ab[1], "grad_c: \"m\", \"n\""},
                                 {"grad_a: \"m\", \"k\"", "grad_b: \"k\", \"n\""}, "forward"));
    }
    for (const PointwiseOp& op : PointwiseOps()) {
      const std::string name = op.op;
      source += Pointwise(name, op.f, op.df, op.dtypes);
      metadefs.push_back(Metadef(name, {"x: -2"}, {"y: -2"}, "same(x)", name + "_grad", op.dtypes));
      metadefs.push_back(Metadef(name + "_grad", {"x: -2", "grad_y: -2"}, {"grad_x: -2"}, "forward",
                                 "", op.dtypes));
    }
    return BuildLibrary("gradient", source, metadefs);
  }());
  return path;
}

class ScaleVariant : public testing::TestWithParam<Wrong> {};

TEST_P(ScaleVariant, IsNamed) {
  const Wrong& variant = GetParam();
  const OperatorReport op = CheckOne(Library(), variant.op);
  EXPECT_EQ(op.verdict, Verdict::kWrong);
  const GradientRow* row = RowOf(op, variant.input);
  ASSERT_NE(row, nullptr) << TextOf(op);
  EXPECT_FALSE(row->right) << TextOf(op);
  EXPECT_NE(row->kind.find(variant.kind), std::string::npos) << TextOf(op);
  EXPECT_NE(row->worst.got, row->worst.expected);
  EXPECT_FALSE(row->worst.index.empty());
}

std::vector<Wrong> WrongGradients() {
  std::vector<Wrong> wrong;
  for (const Wrong& variant : ScaleVariants())
    if (variant.input[0] != 0) wrong.push_back(variant);
  return wrong;
}

INSTANTIATE_TEST_SUITE_P(Gradient, ScaleVariant, testing::ValuesIn(WrongGradients()),
                         [](const auto& info) { return std::string(info.param.op); });

TEST(Gradient, OnlyTheWrongInputIsNamed) {
  const OperatorReport op = CheckOne(Library(), "third_input_zero");
  EXPECT_TRUE(RowOf(op, "x")->right && RowOf(op, "b")->right) << TextOf(op);
  EXPECT_TRUE(RowOf(op, "x")->checked && RowOf(op, "b")->checked && RowOf(op, "s")->checked);
}

class RightGradient : public testing::TestWithParam<const char*> {};

TEST_P(RightGradient, IsRight) {
  const bool partly = std::string_view(GetParam()) == "root";  // half of its values have no root
  for (uint64_t seed = 1; seed <= Seeds(); ++seed) {
    const OperatorReport op = CheckOne(Library(), GetParam(), 60, seed);
    EXPECT_EQ(op.verdict, Verdict::kRight) << "seed " << seed << "\n" << TextOf(op);
    EXPECT_TRUE(op.findings.empty() || partly) << TextOf(op);
    for (const GradientRow& row : op.rows)
      EXPECT_TRUE(row.checked && (row.skipped == 0 || partly)) << TextOf(op);
  }
}

INSTANTIATE_TEST_SUITE_P(Gradient, RightGradient,
                         testing::Values("all_right", "product", "cube_single", "cube_columns",
                                         "root"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Gradient, TheExampleIsRight) {
  setenv("OPWRIGHT_CACHE", JoinPath(OPWRIGHT_CHECK_WORK, "cache").c_str(), 1);
  Expected<Report> report = CheckLibrary(JoinPath(OPWRIGHT_EXAMPLES, "fused_add_scale"), {});
  ASSERT_TRUE(report.ok()) << report.error().Text();
  EXPECT_EQ(report->verdict(), Verdict::kRight) << RenderText(*report);
  ASSERT_EQ(report->operators.size(), 1u)
      << "the backward operator is checked through its forward one";
  EXPECT_EQ(report->operators[0].rows.size(), 3u);
}

TEST(Gradient, TransposedIsNamed) {
  const OperatorReport op = CheckOne(Library(), "product_turned");
  EXPECT_EQ(op.verdict, Verdict::kWrong);
  EXPECT_NE(RowOf(op, "a")->kind.find("transposed"), std::string::npos) << TextOf(op);
  EXPECT_TRUE(RowOf(op, "b")->right);
}

TEST(Gradient, RightForSquaresOnlyIsWrong) {
  const OperatorReport op = CheckOne(Library(), "product_square");
  EXPECT_EQ(op.verdict, Verdict::kWrong);
  EXPECT_TRUE(FindingOf(op, "CK001") != nullptr || FindingOf(op, "CK006") != nullptr) << TextOf(op);
}

TEST(Gradient, ABackwardThatWritesItsInputsIsWrong) {
  const OperatorReport op = CheckOne(Library(), "writes_dout");
  ASSERT_NE(FindingOf(op, "CK008"), nullptr) << TextOf(op);
  EXPECT_EQ(FindingOf(op, "CK008")->argument, "gradient of output y");
}

TEST(Gradient, AnUnwrittenGradientIsMissingNotZero) {
  const OperatorReport op = CheckOne(Library(), "unwritten_gradient");
  ASSERT_NE(FindingOf(op, "CK006"), nullptr) << TextOf(op);
  EXPECT_EQ(FindingOf(op, "CK006")->argument, "gradient of input x");
}

TEST(Gradient, ABackwardThatRefusesWhatTheForwardTakesIsWrong) {
  const OperatorReport op = CheckOne(Library(), "refuses_matrices");
  ASSERT_NE(FindingOf(op, "CK013"), nullptr) << TextOf(op);
  EXPECT_NE(FindingOf(op, "CK013")->message.find("one row only"), std::string::npos);
}

// Its first call is well: only an expanded gradient of the output, as sum() gives, is refused.
TEST(Gradient, ABackwardThatRefusesSomeCotangentsIsWrong) {
  const OperatorReport op = CheckOne(Library(), "refuses_equal_numbers");
  EXPECT_EQ(op.verdict, Verdict::kWrong);
  ASSERT_NE(FindingOf(op, "CK013"), nullptr) << TextOf(op);
  EXPECT_NE(FindingOf(op, "CK013")->message.find("all the same"), std::string::npos);
}

TEST(Gradient, SinglePrecisionAloneIsDecided) {
  const OperatorReport op = CheckOne(Library(), "cube_single");
  EXPECT_EQ(op.verdict, Verdict::kRight) << TextOf(op);
  EXPECT_EQ(RowOf(op, "x")->dtype, "float32");
}

TEST(Gradient, NarrowColumnsAreComparedWithTheWideOne) {
  const OperatorReport op = CheckOne(Library(), "cube_bad_column");
  EXPECT_EQ(op.verdict, Verdict::kWrong);
  ASSERT_NE(FindingOf(op, "CK016"), nullptr) << TextOf(op);
  EXPECT_NE(FindingOf(op, "CK016")->case_text.find("bfloat16"), std::string::npos);
}

TEST(Gradient, BfloatAloneIsRightWrongOrUndecidedButNeverTheOpposite) {
  EXPECT_NE(CheckOne(Library(), "bfloat_only").verdict, Verdict::kWrong)
      << TextOf(CheckOne(Library(), "bfloat_only"));
  EXPECT_NE(CheckOne(Library(), "bfloat_wrong").verdict, Verdict::kRight)
      << TextOf(CheckOne(Library(), "bfloat_wrong"));
}

TEST(Gradient, AStraightThroughGradientIsNotThatOfTheForward) {
  EXPECT_EQ(CheckOne(Library(), "steps").verdict, Verdict::kWrong);
}

TEST(Gradient, TheSameSeedSaysTheSame) {
  EXPECT_EQ(TextOf(CheckOne(Library(), "minus")), TextOf(CheckOne(Library(), "minus")));
}

}  // namespace
}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// Operators that refuse ordinary shapes, since a dimension has to be a multiple of another one or
// of a number: they are met with such, and judged.
#include "library.h"

namespace opwright::check {
namespace {

// Heads of q of which several share one of k; the wrong gradient has the first one's part.
constexpr char kShared[] = R"cc(
  Status F_NAME(View<const double> q, View<const double> k, View<double> y) {
    if (k.Dim(1) < 1 || q.Dim(1) % k.Dim(1) != 0) return Status::Error("a multiple is needed");
    const int64_t per = q.Dim(1) / k.Dim(1);
    for (int64_t b = 0; b < q.Dim(0); ++b)
      for (int64_t h = 0; h < q.Dim(1); ++h)
        for (int64_t d = 0; d < q.Dim(2); ++d) y(b, h, d) = q(b, h, d) * k(b, h / per, d);
    return SUCCESS;
  }
  OPWRIGHT_FUNCTION(NAME, F_NAME)
  Status B_NAME(View<const double> q, View<const double> k, View<const double> g, View<double> gq,
                View<double> gk) {
    if (k.Dim(1) < 1 || q.Dim(1) % k.Dim(1) != 0) return Status::Error("a multiple is needed");
    const int64_t per = q.Dim(1) / k.Dim(1);
    for (int64_t i = 0; gk && i < gk.Size(); ++i) gk.Data()[i] = 0;
    for (int64_t b = 0; b < q.Dim(0); ++b)
      for (int64_t h = 0; h < q.Dim(1); ++h)
        for (int64_t d = 0; d < q.Dim(2); ++d) {
          if (gq) gq(b, h, d) = g(b, h, d) * k(b, h / per, d);
          if (gk && (!WRONG || h % per == 0)) gk(b, h / per, d) += g(b, h, d) * q(b, h, d);
        }
    return SUCCESS;
  }
  OPWRIGHT_FUNCTION(NAME_grad, B_NAME)
)cc";

// Several gates of each element are summed, the last one twice.
constexpr char kGates[] = R"cc(
  Status F_NAME(View<const double> x, View<const double> c, View<double> y) {
    const int64_t n = c.Dim(1);
    if (x.Dim(1) != NUMBER * n) return Status::Error("%d times as many are needed", NUMBER);
    for (int64_t b = 0; b < c.Dim(0); ++b)
      for (int64_t j = 0; j < n; ++j) {
        y(b, j) = c(b, j) + x(b, (NUMBER - 1) * n + j);
        for (int64_t k = 0; k < NUMBER; ++k) y(b, j) += x(b, k * n + j);
      }
    return SUCCESS;
  }
  OPWRIGHT_FUNCTION(NAME, F_NAME)
  Status B_NAME(View<const double> x, View<const double> c, View<const double> g, View<double> gx,
                View<double> gc) {
    const int64_t n = c.Dim(1);
    if (x.Dim(1) != NUMBER * n) return Status::Error("%d times as many are needed", NUMBER);
    for (int64_t b = 0; b < c.Dim(0); ++b)
      for (int64_t j = 0; j < n; ++j) {
        if (gc) gc(b, j) = g(b, j);
        for (int64_t k = 0; gx && k < NUMBER; ++k)
          gx(b, k * n + j) = (k == NUMBER - 1 && !WRONG ? 2 : 1) * g(b, j);
      }
    return SUCCESS;
  }
  OPWRIGHT_FUNCTION(NAME_grad, B_NAME)
)cc";

// Each window of an image by its number, which the wrong gradient counts in a square.
constexpr char kWindows[] = R"cc(
  Status F_NAME(View<const double> x, View<double> y) {
    if (x.Dim(1) % NUMBER != 0 || x.Dim(2) % NUMBER != 0) return Status::Error("whole windows");
    for (int64_t n = 0; n < x.Dim(0); ++n)
      for (int64_t i = 0; i < x.Dim(1); ++i)
        for (int64_t j = 0; j < x.Dim(2); ++j)
          for (int64_t c = 0; c < x.Dim(3); ++c)
            y(n, i, j, c) = double(i / NUMBER * (x.Dim(2) / NUMBER) + j / NUMBER) * x(n, i, j, c);
    return SUCCESS;
  }
  OPWRIGHT_FUNCTION(NAME, F_NAME)
  Status B_NAME(View<const double> x, View<const double> g, View<double> gx) {
    if (x.Dim(1) % NUMBER != 0 || x.Dim(2) % NUMBER != 0) return Status::Error("whole windows");
    for (int64_t n = 0; n < x.Dim(0); ++n)
      for (int64_t i = 0; i < x.Dim(1); ++i)
        for (int64_t j = 0; j < x.Dim(2); ++j)
          for (int64_t c = 0; c < x.Dim(3); ++c)
            gx(n, i, j, c) =
                double(i / NUMBER * (x.Dim(WRONG ? 1 : 2) / NUMBER) + j / NUMBER) * g(n, i, j, c);
    return SUCCESS;
  }
  OPWRIGHT_FUNCTION(NAME_grad, B_NAME)
)cc";

struct Form {
  const char* op;
  const char* source;
  const char* number;
  std::vector<std::string> inputs;  // shape lists
  size_t like;  // the input that the output is like
};

const std::vector<Form>& Forms() {
  static const std::vector<Form>& forms = *new std::vector<Form>{
      {"shared", kShared, "", {R"("b", "h", "d")", R"("b", "g", "d")"}, 0},
      {"two_gates", kGates, "2", {R"("b", "g")", R"("b", "h")"}, 1},
      {"four_gates", kGates, "4", {R"("b", "g")", R"("b", "h")"}, 1},
      {"windows", kWindows, "7", {R"("n", "h", "w", "c")"}, 0},
      {"patches", kWindows, "16", {R"("n", "h", "w", "c")"}, 0},
  };
  return forms;
}

const std::string& Library() {
  static const std::string& path = *new std::string([] {
    std::string source = "#include <opwright/kernel.h>\n  using namespace opwright;\n";
    std::vector<std::string> metadefs;
    for (const Form& form : Forms())
      for (const bool wrong : {false, true}) {
        const std::string name = StrCat(form.op, wrong ? "_wrong" : "_right");
        source += Replaced(Replaced(Replaced(form.source, "NAME", name), "NUMBER", form.number),
                           "WRONG", wrong ? "true" : "false");
        std::vector<std::string> inputs;
        std::vector<std::string> gradients;
        for (size_t k = 0; k < form.inputs.size(); ++k) {
          inputs.push_back(StrCat("x", static_cast<int64_t>(k), ": ", form.inputs[k]));
          gradients.push_back("grad_" + inputs.back());
        }
        const std::string y = form.inputs[form.like];
        metadefs.push_back(Metadef(name, inputs, {"y: " + y},
                                   StrCat("same(x", static_cast<int64_t>(form.like), ")"),
                                   name + "_grad"));
        inputs.push_back("grad_y: " + y);
        metadefs.push_back(Metadef(name + "_grad", inputs, gradients, "forward"));
      }
    return BuildLibrary("multiples", source, metadefs);
  }());
  return path;
}

TEST(Multiples, OfOtherDimensionsAndOfNumbersAreMet) {
  for (const Form& form : Forms())
    for (uint64_t seed = 0; seed < Times(2); ++seed) {
      const OperatorReport right = CheckOne(Library(), StrCat(form.op, "_right"), 60, seed);
      EXPECT_EQ(right.verdict, Verdict::kRight) << TextOf(right);
      EXPECT_TRUE(right.findings.empty()) << TextOf(right);
      const OperatorReport wrong = CheckOne(Library(), StrCat(form.op, "_wrong"), 60, seed);
      EXPECT_EQ(wrong.verdict, Verdict::kWrong) << TextOf(wrong);
    }
}

}  // namespace
}  // namespace opwright::check

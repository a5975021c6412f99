// SPDX-License-Identifier: Apache-2.0
//
// Kernels with a list among their attributes, one weight for each column: what is read past the
// list, and the length that a required one needs.
#include "library.h"

namespace opwright::check {
namespace {

constexpr const char* kHead = R"cc(
#include <opwright/kernel.h>
  using opwright::List;
  using opwright::Status;
  using opwright::View;
)cc";

// BACK: of the element x(i, j), with the weight w and the gradient g. TEST: stands before both.
constexpr const char* kWeighted = R"cc(
  template <class T>
  Status NAME_(View<const T> x, View<T> y, List<double> weights) {
    TEST for (int64_t i = 0; i < x.Dim(0); ++i) for (int64_t j = 0; j < x.Dim(1); ++j) y(i, j) =
        x(i, j) * x(i, j) * static_cast<T>(weights[j]);
    return opwright::SUCCESS;
  }
  OPWRIGHT_FUNCTION(NAME, NAME_)
  template <class T>
  Status NAME_grad_(View<const T> x, View<const T> g, View<T> d, List<double> weights) {
    TEST for (int64_t i = 0; i < x.Dim(0); ++i) for (int64_t j = 0; j < x.Dim(1); ++j) {
      const T w = static_cast<T>(weights[j]);
      d(i, j) = BACK;
    }
    return opwright::SUCCESS;
  }
  OPWRIGHT_FUNCTION(NAME_grad, NAME_grad_)
)cc";
constexpr const char* kTest =
    "if (weights.Size() != x.Dim(1)) return Status::Error(\"one weight for each column\");";
constexpr const char* kBack = "2 * x(i, j) * w * g(i, j)";

std::string Weighted(const std::string& name, const std::string& test, const std::string& back) {
  return Replaced(Replaced(Replaced(kWeighted, "TEST", test), "BACK", back), "NAME", name);
}

std::vector<std::string> Metadefs(const std::string& name, const std::string& columns,
                                  const std::string& weights) {
  const std::string grad = name + "_grad";
  const std::vector<std::string> attrs = {Attr("weights", "list_float", weights)};
  const std::string shape = StrCat("\"m\", ", columns);
  return {
      WithAttrs(Metadef(name, {"x:" + shape}, {"y:" + shape}, "", grad), attrs),
      WithAttrs(Metadef(grad, {"x:" + shape, "grad_y:" + shape}, {"grad_x:" + shape}, "forward"),
                attrs)};
}

const std::string& Library() {
  static const std::string library = [] {
    std::string source = kHead;
    std::vector<std::string> metadefs;
    const auto add = [&](const std::string& name, const std::string& columns,
                         const std::string& weights, const char* test, const char* back) {
      source += Weighted(name, test, back);
      for (std::string& metadef : Metadefs(name, columns, weights))
        metadefs.push_back(std::move(metadef));
    };
    add("past", "\"n\"", "", "", kBack);
    add("past_default", "\"n\"", "[2.0, 3.0]", "", kBack);
    add("fits", "\"n\"", "", kTest, kBack);
    add("wrong", "\"n\"", "", kTest, "-7 * x(i, j) * w * g(i, j)");
    add("fixed", "3", "[2.0, 3.0, 4.0]", kTest, kBack);
    return BuildLibrary("list_attrs", source, metadefs);
  }();
  return library;
}

TEST(ListAttrs, AStepPastOneIsAFault) {
  for (const char* name : {"past", "past_default"})
    for (const char* op : {"", "_grad"}) {
      const OperatorReport report = CheckOne(Library(), StrCat(name, op));
      EXPECT_EQ(report.verdict, Verdict::kWrong) << TextOf(report);
      const Finding* const finding = FindingOf(report, "CK001");
      ASSERT_NE(finding, nullptr) << TextOf(report);
      EXPECT_EQ(finding->argument, "attribute weights");
      EXPECT_NE(finding->message.find("read memory 0 bytes past the end of attribute weights"),
                std::string::npos)
          << finding->message;
    }
}

TEST(ListAttrs, ARequiredOneIsAsLongAsTheOperatorWants) {
  const OperatorReport report = CheckOne(Library(), "fits");
  EXPECT_EQ(report.verdict, Verdict::kRight) << TextOf(report);
  EXPECT_EQ(FindingOf(report, "CK025"), nullptr) << TextOf(report);
  EXPECT_GT(report.cases_run, report.cases_refused) << TextOf(report);
}

TEST(ListAttrs, TheReportShowsTheListOfAWrongGradient) {
  const OperatorReport report = CheckOne(Library(), "wrong");
  EXPECT_EQ(report.verdict, Verdict::kWrong) << TextOf(report);
  ASSERT_EQ(report.rows.size(), 1u);
  EXPECT_NE(report.rows[0].case_text.find("; weights=[0.5, 0.625"), std::string::npos)
      << TextOf(report);
  EXPECT_EQ(report.rows[0].kind, "missing factor: every element is -3.5 times what is right");
}

TEST(ListAttrs, ADefaultOneIsTakenAsItIs) {
  const OperatorReport report = CheckOne(Library(), "fixed");
  EXPECT_EQ(report.verdict, Verdict::kRight) << TextOf(report);
  EXPECT_EQ(report.cases_refused, 0) << TextOf(report);
}

}  // namespace
}  // namespace opwright::check

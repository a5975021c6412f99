// SPDX-License-Identifier: Apache-2.0
//
// Operators whose other half, backward or forward, is not bound to them.
#include "library.h"

namespace opwright::check {
namespace {

const std::string& Library() {
  static const std::string path = [] {
    std::string source = "#include <opwright/kernel.h>\n";
    for (const char* op : {"apart", "far_grad", "near", "near_grad", "vector_grad", "narrow"})
      source += Kernel(op,
                       "const auto& x = in.GetTensor(0);\nfor (int64_t i = 0; i < x.Size(); ++i) "
                       "out->GetTensor(0)->Data<double>()[i] = x.Data<double>()[i];");
    const auto backward = [](const std::string& name) {
      return Metadef(name, {"x: \"n\"", "grad_y: \"n\""}, {"grad_x: \"n\""}, "same(x)");
    };
    return BuildLibrary(
        "lone", source,
        {Metadef("apart", {"x: \"n\""}, {"y: \"n\""}, "same(x)", "apart_grad"),
         backward("far_grad"), Metadef("near", {"x: \"n\""}, {"y: \"n\""}, "same(x)"),
         backward("near_grad"), Metadef("vector_grad", {"x: \"n\""}, {"y: \"n\""}, "same(x)"),
         Metadef("narrow", {"x: -2"}, {"y: \"n\""}, "same(x)")});
  }();
  return path;
}

void ExpectUndecided(const std::string& op, const std::string& words, bool is_called = true) {
  const OperatorReport report = CheckOne(Library(), op);
  EXPECT_EQ(report.verdict, Verdict::kUndecided) << TextOf(report);
  EXPECT_NE(report.note.find(words), std::string::npos) << report.note;
  EXPECT_EQ(report.cases_run > 0, is_called) << TextOf(report);
  EXPECT_TRUE(report.findings.empty()) << TextOf(report);
}

TEST(Lone, ABackwardOperatorThatIsNotInTheLibraryIsNamed) {
  ExpectUndecided("apart", "its backward operator apart_grad is not in the library");
}

TEST(Lone, ABackwardOperatorIsNotTakenForAForwardOne) {
  ExpectUndecided("far_grad", "a backward operator by its names");
  ExpectUndecided("far_grad", "its forward operator far, which is not in the library");
}

TEST(Lone, AForwardOperatorThatDoesNotNameItsBackwardOneIsNamed) {
  ExpectUndecided("near_grad",
                  "near, whose metadef does not name it: write \"gradient\": "
                  "\"near_grad\"",
                  false);
  EXPECT_EQ(CheckOne(Library(), "near").note, "no gradient: forward only");
}

TEST(Lone, ANameAloneMakesNoBackwardOperator) {
  const OperatorReport report = CheckOne(Library(), "vector_grad");
  EXPECT_EQ(report.verdict, Verdict::kRight) << TextOf(report);
  EXPECT_EQ(report.note, "no gradient: forward only");
}

TEST(Lone, AMetadefThatRefusesMostOfWhatItAllowsIsNotRight) {
  const OperatorReport report = CheckOne(Library(), "narrow");
  EXPECT_EQ(report.verdict, Verdict::kUndecided) << TextOf(report);
  EXPECT_NE(TextOf(report).find("its shape list says [\"n\"]"), std::string::npos);
  EXPECT_NE(TextOf(report).find("[CK022]"), std::string::npos);
}

}  // namespace
}  // namespace opwright::check

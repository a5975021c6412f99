// SPDX-License-Identifier: Apache-2.0
//
// Optional outputs, which a caller may leave out: nothing else may change.
#include "library.h"

namespace opwright::check {
namespace {

const std::string& Library() {
  static const std::string& path = *new std::string([] {
    const std::string source = R"cc(
#include <opwright/kernel.h>
      using opwright::View;
      void Fill(View<const double> x, View<double> y, View<double> sign, double scale) {
        for (int64_t i = 0; i < x.Size(); ++i) {
          y(i) = scale * x(i);
          if (sign) sign(i) = x(i) < 0 ? -1 : 1;
        }
      }
      void Right(View<const double> x, View<double> y, View<double> sign) { Fill(x, y, sign, 1); }
      opwright::Status Insists(View<const double> x, View<double> y, View<double> sign) {
        if (!sign) return opwright::Status::Error("sign is due");
        Fill(x, y, sign, 1);
        return opwright::SUCCESS;
      }
      void Depends(View<const double> x, View<double> y, View<double> sign) {
        Fill(x, y, sign, sign ? 1 : 2);
      }
      OPWRIGHT_FUNCTION(right, Right)
      OPWRIGHT_FUNCTION(insists, Insists)
      OPWRIGHT_FUNCTION(depends, Depends)
    )cc";
    std::vector<std::string> metadefs;
    for (const char* name : {"right", "insists", "depends"})
      metadefs.push_back(Metadef(name, {"x: \"n\""}, {"y: \"n\"", "?sign: \"n\""}, "same(x)"));
    return BuildLibrary("optional_output", source, metadefs);
  }());
  return path;
}

TEST(OptionalOutput, MayBeLeftOut) {
  const OperatorReport op = CheckOne(Library(), "right");
  EXPECT_EQ(op.verdict, Verdict::kRight) << TextOf(op);
  EXPECT_TRUE(op.findings.empty()) << TextOf(op);
}

TEST(OptionalOutput, AKernelThatInsistsOnItIsWrong) {
  const OperatorReport op = CheckOne(Library(), "insists");
  EXPECT_EQ(op.verdict, Verdict::kWrong);
  const Finding* found = FindingOf(op, "CK019");
  ASSERT_NE(found, nullptr) << TextOf(op);
  EXPECT_EQ(found->argument, "output sign");
  EXPECT_NE(found->message.find("sign is due"), std::string::npos) << found->message;
}

TEST(OptionalOutput, AnotherOutputThatChangesWithoutItIsWrong) {
  const OperatorReport op = CheckOne(Library(), "depends");
  EXPECT_EQ(op.verdict, Verdict::kWrong);
  const Finding* found = FindingOf(op, "CK019");
  ASSERT_NE(found, nullptr) << TextOf(op);
  EXPECT_EQ(found->argument, "output y");
}

}  // namespace
}  // namespace opwright::check

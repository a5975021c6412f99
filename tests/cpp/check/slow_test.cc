// SPDX-License-Identifier: Apache-2.0
//
// Operators that take their time: one call that does not return is wrong, many that do are not.
#include "library.h"

namespace opwright::check {
namespace {

// Long enough for all calls but the slow ones on a loaded machine, too short for a few of these.
constexpr double kTimeout = 5;  // seconds

constexpr char kSlowWhenLong[] = "if (n > 1000) usleep(1500000);";
constexpr char kWrites[] = "const_cast<float*>(x)[0] += 1; ";

std::string Body(const std::string& before) {
  return StrCat(
      "    const float* x = in.GetTensor(0).Data<float>();\n"
      "    float* y = out->GetTensor(0)->Data<float>();\n"
      "    const int64_t n = in.GetTensor(0).Size();\n    ",
      before, "\n    for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];");
}

const std::string& Library() {
  static const std::string path = [] {
    const std::string source = StrCat(
        "#include <opwright/kernel.h>\n#include <unistd.h>\n",
        Kernel("slow_when_long", Body(kSlowWhenLong)),
        Kernel("wrong_and_slow", Body(StrCat(kSlowWhenLong, "y += n > 200 && n < 1000;"))),
        Kernel("writes_and_slow", Body(StrCat("if (n > 200) ", kWrites, kSlowWhenLong))),
        Kernel("writes_when_slow", Body(StrCat("if (n > 1000) ", kWrites, kSlowWhenLong))),
        Kernel("slow_when_large", Body("if (n > 20000) usleep(1500000);")),
        Kernel("slow_always", Body("usleep(1500000);")),
        Kernel("hangs_later",
               Body("static int calls = 0; while (++calls > 3) { calls = 3; usleep(1000); }")));
    std::vector<std::string> metadefs;
    for (const char* name : {"slow_when_long", "wrong_and_slow", "writes_and_slow",
                             "writes_when_slow", "slow_always", "hangs_later"})
      metadefs.push_back(Metadef(name, {"x: \"n\""}, {"y: \"n\""}, "same(x)", "", "\"float32\""));
    const std::string shape = "\"n\", \"m\", 16";
    metadefs.push_back(
        Metadef("slow_when_large", {"x: " + shape}, {"y: " + shape}, "same(x)", "", "\"float32\""));
    return BuildLibrary("slow", source, metadefs);
  }();
  return path;
}

TEST(SlowOperators, AreTriedWithFewerElements) {
  const OperatorReport right = CheckOne(Library(), "slow_when_long", kTimeout);
  EXPECT_EQ(right.verdict, Verdict::kRight) << TextOf(right);
  const OperatorReport wrong = CheckOne(Library(), "wrong_and_slow", kTimeout);
  EXPECT_EQ(wrong.verdict, Verdict::kWrong) << TextOf(wrong);
}

TEST(SlowOperators, KeepTheDimensionsThatTheMetadefFixes) {
  const OperatorReport op = CheckOne(Library(), "slow_when_large", kTimeout);
  EXPECT_EQ(op.verdict, Verdict::kRight) << TextOf(op);
  EXPECT_EQ(op.cases_refused, 0) << TextOf(op);
}

TEST(SlowOperators, ACaseThatIsTriedTwiceCountsOnce) {
  const OperatorReport op = CheckOne(Library(), "writes_and_slow", kTimeout);
  ASSERT_NE(FindingOf(op, "CK008"), nullptr) << TextOf(op);
  EXPECT_EQ(FindingOf(op, "CK008")->cases, 1) << TextOf(op);
}

TEST(SlowOperators, WhatOnlyTheSlowCaseShowsIsWrong) {
  const OperatorReport op = CheckOne(Library(), "writes_when_slow", kTimeout);
  EXPECT_EQ(op.verdict, Verdict::kWrong) << TextOf(op);
  ASSERT_NE(FindingOf(op, "CK008"), nullptr) << TextOf(op);
  EXPECT_EQ(FindingOf(op, "CK008")->cases, 1) << TextOf(op);
}

TEST(SlowOperators, AreUndecidedWhereThatDoesNotHelp) {
  const OperatorReport op = CheckOne(Library(), "slow_always", kTimeout);
  EXPECT_EQ(op.verdict, Verdict::kUndecided) << TextOf(op);
  ASSERT_NE(FindingOf(op, "CK018"), nullptr) << TextOf(op);
  EXPECT_NE(FindingOf(op, "CK018")->message.find("--timeout"), std::string::npos);
}

TEST(SlowOperators, OneCallThatDoesNotReturnIsWrong) {
  const OperatorReport op = CheckOne(Library(), "hangs_later", kTimeout);
  EXPECT_EQ(op.verdict, Verdict::kWrong) << TextOf(op);
  EXPECT_NE(FindingOf(op, "CK004"), nullptr) << TextOf(op);
}

}  // namespace
}  // namespace opwright::check

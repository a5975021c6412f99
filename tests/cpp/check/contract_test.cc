// SPDX-License-Identifier: Apache-2.0
//
// Kernels that break the contract of memory, each in one way, and what is said about them.
#include "check/contract.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "library.h"

namespace opwright::check {
namespace {

struct Body {
  const char* op;
  const char* text;
};

// y from x, both float32 of any rank; n elements.
const std::vector<Body>& Bodies() {
  static const std::vector<Body>& bodies = *new std::vector<Body>{
      {"twice_right", "for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];"},
      {"reads_past_end", "for (int64_t i = 0; i < n; ++i) y[i] = x[i] + 0 * x[i + 1];"},
      {"writes_past_end", "for (int64_t i = 0; i <= n; ++i) y[i] = 1;"},
      {"writes_before_begin", "for (int64_t i = -1; i < n; ++i) y[i] = 1;"},
      {"writes_far_past_end", "for (int64_t i = 0; i < n; ++i) y[i + 100000] = x[i];"},
      {"reads_far_before_begin", "for (int64_t i = 0; i < n; ++i) y[i] = x[i - 100000];"},
      {"writes_far_away",
       "for (int64_t i = 0; i < n; ++i) y[i] = x[i]; y[-(int64_t{1} << 30)] = 1;"},
      {"overflows_the_stack",
       "volatile char big[64 << 20]; big[0] = 1; for (int64_t i = 0; i < n; ++i) y[i] = x[i] + "
       "big[0];"},
      {"writes_half", "for (int64_t i = 0; i < (n + 1) / 2; ++i) y[i] = x[i];"},
      {"writes_input",
       "for (int64_t i = 0; i < n; ++i) { const_cast<float*>(x)[i] = x[i] + 1; y[i] = x[i]; }"},
      {"restores_input",
       "volatile float* w = const_cast<float*>(x); for (int64_t i = 0; i < n; ++i) { const float v "
       "= w[i]; w[i] = 0; y[i] = v; w[i] = v; }"},
      {"crashes",
       "for (int64_t i = 0; i < n; ++i) y[i] = x[i]; *reinterpret_cast<volatile int*>(n * 0 + 8) = "
       "1;"},
      {"divides_by_zero",
       "for (int64_t i = 0; i < n; ++i) y[i] = x[i]; volatile int64_t zero = 0; y[0] = "
       "static_cast<float>(n / zero);"},
      {"aborts", "abort();"},
      {"needs_alignment",
       "typedef float Four __attribute__((vector_size(16))); if (n >= 4) "
       "*reinterpret_cast<volatile Four*>(y) = "
       "*reinterpret_cast<const volatile Four*>(x); for (int64_t i = 0; i < n; ++i) y[i] = x[i];"},
      {"exits", "exit(0);"},
      {"throws", "throw 1;"},
      {"loops", "volatile int64_t k = n; while (k >= 0) k = n;"},
      {"leaves_a_process",
       "if (fork() == 0) for (;;) pause(); for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];"},
      {"closes_and_loops",
       "for (int fd = 3; fd < 256; ++fd) close(fd); volatile int64_t k = n; while (k >= 0) k = n;"},
      {"writes_nothing", ""},
      {"refuses", "return opwright::Status::Error(\"only on Sundays\");"},
      {"random_result",
       "static int calls = 0; ++calls; for (int64_t i = 0; i < n; ++i) y[i] = x[i] + calls;"},
      {"adds_to_output", "for (int64_t i = 0; i < n; ++i) y[i] += x[i];"},
      {"shared_state",
       "static volatile float kept; for (int64_t i = 0; i < n; ++i) { kept = x[i]; sched_yield(); "
       "y[i] = kept; }"},
      {"shared_state_of_an_order",
       "static float first = n > 0 ? x[0] : 0; if (n > 0 && x[0] != first) return "
       "opwright::Status::Error(\"not in order\"); static volatile float kept; for (int64_t i = 0; "
       "i < n; ++i) { kept = x[i]; sched_yield(); y[i] = kept; }"},
  };
  return bodies;
}

const std::string& Library() {
  static const std::string& path = *new std::string([] {
    std::string source =
        "#include <opwright/kernel.h>\n#include <sched.h>\n#include <unistd.h>\n\n";
    std::vector<std::string> metadefs;
    for (const Body& body : Bodies()) {
      source += Kernel(
          body.op,
          StrCat(
              "    const float* x = in.GetTensor(0).Data<float>();\n    float* y = "
              "out->GetTensor(0)->Data<float>();\n"
              "    const int64_t n = in.GetTensor(0).Size();\n    (void)x; (void)y; (void)n;\n    ",
              body.text));
      metadefs.push_back(Metadef(body.op, {"x: -2"}, {"y: -2"}, "same(x)", "", "\"float32\""));
    }
    return BuildLibrary("contract", source, metadefs);
  }());
  return path;
}

TEST(Contract, ARightKernelIsRight) {
  const OperatorReport op = CheckOne(Library(), "twice_right");
  EXPECT_EQ(op.verdict, Verdict::kRight) << TextOf(op);
  EXPECT_GE(op.cases_run, 8);
  EXPECT_EQ(op.note, "no gradient: forward only");
  EXPECT_TRUE(op.findings.empty());
}

struct Defect {
  const char* op;
  const char* id;
  const char* says;  // in the text of the report
};

class ContractDefect : public testing::TestWithParam<Defect> {};

TEST_P(ContractDefect, IsNamed) {
  const Defect& defect = GetParam();
  const OperatorReport op =
      CheckOne(Library(), defect.op, std::string(defect.op) == "loops" ? 1 : 60);
  EXPECT_EQ(op.verdict, Verdict::kWrong);
  EXPECT_NE(FindingOf(op, defect.id), nullptr) << TextOf(op);
  EXPECT_NE(TextOf(op).find(defect.says), std::string::npos) << TextOf(op);
}

INSTANTIATE_TEST_SUITE_P(
    Kernels, ContractDefect,
    testing::Values(
        Defect{"reads_past_end", "CK001",
               "0 bytes past the end of input x (60 bytes, shape [3, 5])"},
        Defect{"writes_past_end", "CK001",
               "0 bytes past the end of output y (60 bytes, shape [3, 5])"},
        Defect{"writes_before_begin", "CK001",
               "before the begin of output y (60 bytes, shape [3, 5]), the nearest 1 byte away"},
        Defect{"writes_far_past_end", "CK001",
               "it wrote memory 399940 bytes past the end of output y (60 bytes, shape [3, 5])"},
        Defect{"reads_far_before_begin", "CK001",
               "it read memory 400000 bytes before the begin of input x (60 bytes, shape [3, 5])"},
        Defect{"writes_far_away", "CK002",
               "bytes before the begin of output y (60 bytes, shape [3, 5]), the nearest of its "
               "buffers"},
        Defect{"overflows_the_stack", "CK002", "likely: the stack ran out"},
        Defect{"writes_half", "CK006",
               "did not write 7 of the 15 elements of output y; the first is [1, 3]"},
        Defect{"writes_input", "CK008", "wrote input x: element [0, 0]"},
        Defect{"restores_input", "CK008", "it wrote byte 0 of input x, which is not its to write"},
        Defect{"crashes", "CK002", "it wrote memory at 0x8"},
        Defect{"divides_by_zero", "CK002", "SIGFPE"}, Defect{"aborts", "CK002", "SIGABRT"},
        Defect{"needs_alignment", "CK002", "aligned to their element only"},
        Defect{"exits", "CK003", "ended the process with status 0 during forward"},
        Defect{"throws", "CK005", "the kernel threw"},
        Defect{"loops", "CK004", "did not return within 1 s during forward"},
        Defect{"random_result", "CK009", "gave different results for the same inputs"},
        Defect{"adds_to_output", "CK007", "used what was in output y before the call"},
        Defect{"shared_state", "CK010", "threads called it at once"},
        Defect{"shared_state_of_an_order", "CK010", "threads called it at once"}),
    [](const auto& info) { return std::string(info.param.op); });

// In milliseconds no int holds it: it must be no limit at all, not one that is over at once.
TEST(Contract, ALongTimeLimitIsOne) {
  EXPECT_EQ(CheckOne(Library(), "twice_right", 3e6).verdict, Verdict::kRight);
  EXPECT_EQ(CheckOne(Library(), "twice_right", 1e300).verdict, Verdict::kRight);
}

TEST(Contract, WhatAKernelForksEndsWithItsCase) {
  // Orphans come here and not to the init process.
  ASSERT_EQ(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
  const OperatorReport op = CheckOne(Library(), "leaves_a_process", 5);
  EXPECT_EQ(op.verdict, Verdict::kRight) << TextOf(op);
  EXPECT_EQ(FindingOf(op, "CK004"), nullptr) << TextOf(op);
  alarm(30);
  int orphans = 0;
  for (int status = 0; waitpid(-1, &status, 0) > 0; ++orphans) EXPECT_TRUE(WIFSIGNALED(status));
  alarm(0);
  EXPECT_GT(orphans, 0);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST(Contract, AKernelThatClosesThePipeAndLoopsTimesOut) {
  const OperatorReport op = CheckOne(Library(), "closes_and_loops", 1);
  EXPECT_NE(FindingOf(op, "CK004"), nullptr) << TextOf(op);
}

// To some elements of y zero is added.
const std::string& AddsLibrary() {
  static const std::string& path = *new std::string([] {
    std::string source = R"cc(
#include <opwright/kernel.h>
      using opwright::View;
      template <class T>
      void Adds(View<const T> x, View<T> y) {
        for (int64_t i = 0; i < x.Size(); ++i)
          if (x(i) > 0)
            y(i) = y(i) + x(i);
          else
            y(i) = y(i) + (x(i) - x(i));
      }
      template <class T>
      void Twice(View<const T> x, View<T> y) {
        for (int64_t i = 0; i < x.Size(); ++i) y(i) = x(i) + x(i);
      }
      template <class T>
      void TwiceGrad(View<const T> x, View<const T> g, View<T> gx) {
        for (int64_t i = 0; i < x.Size(); ++i) gx(i) += 2 * g(i);
      }
      OPWRIGHT_FUNCTION(twice, Twice)
      OPWRIGHT_FUNCTION(twice_grad, TwiceGrad)
    )cc";
    std::vector<std::string> metadefs;
    for (const char* dtype : {"float64", "float32", "int64", "int32"}) {
      const std::string name = StrCat("adds_", dtype);
      metadefs.push_back(
          Metadef(name, {"x: \"n\""}, {"y: \"n\""}, "same(x)", "", StrCat("\"", dtype, "\"")));
      source += StrCat("OPWRIGHT_FUNCTION(", name, ", Adds)\n");
    }
    metadefs.push_back(Metadef("twice", {"x: \"n\""}, {"y: \"n\""}, "same(x)", "twice_grad"));
    metadefs.push_back(
        Metadef("twice_grad", {"x: \"n\"", "grad_y: \"n\""}, {"grad_x: \"n\""}, "forward"));
    return BuildLibrary("adds", source, metadefs);
  }());
  return path;
}

TEST(Contract, AddingToAnOutputIsToldFromNotWritingIt) {
  for (const char* dtype : {"float64", "float32", "int64", "int32"}) {
    const OperatorReport op = CheckOne(AddsLibrary(), StrCat("adds_", dtype));
    EXPECT_NE(FindingOf(op, "CK007"), nullptr) << TextOf(op);
    EXPECT_EQ(FindingOf(op, "CK006"), nullptr) << TextOf(op);
  }
}

TEST(Contract, AddingToAGradientIsToldFromNotWritingIt) {
  const OperatorReport op = CheckOne(AddsLibrary(), "twice");
  const Finding* found = FindingOf(op, "CK007");
  ASSERT_NE(found, nullptr) << TextOf(op);
  EXPECT_EQ(found->argument, "gradient of input x");
  EXPECT_EQ(FindingOf(op, "CK006"), nullptr) << TextOf(op);
  EXPECT_EQ(TextOf(op).find("empty in every case"), std::string::npos) << TextOf(op);
}

TEST(Contract, AnOutputThatIsNotWrittenIsNotCalledUnsafeToo) {
  for (const char* op_name : {"writes_nothing", "writes_half"}) {
    const OperatorReport op = CheckOne(Library(), op_name);
    EXPECT_NE(FindingOf(op, "CK006"), nullptr) << TextOf(op);
    EXPECT_EQ(FindingOf(op, "CK010"), nullptr) << TextOf(op);
  }
}

TEST(Contract, AFaultNamesTheCase) {
  const OperatorReport op = CheckOne(Library(), "reads_past_end");
  ASSERT_NE(FindingOf(op, "CK001"), nullptr);
  EXPECT_EQ(FindingOf(op, "CK001")->case_text, "x[3, 5] float32");
  EXPECT_EQ(FindingOf(op, "CK001")->argument, "input x");
  EXPECT_EQ(FindingOf(op, "CK001")->kind, "reads past the end");
}

TEST(Contract, AKernelThatRefusesEverythingIsUndecided) {
  const OperatorReport op = CheckOne(Library(), "refuses");
  EXPECT_EQ(op.verdict, Verdict::kUndecided);
  EXPECT_NE(FindingOf(op, "CK018"), nullptr);
  EXPECT_NE(TextOf(op).find("only on Sundays"), std::string::npos) << TextOf(op);
}

}  // namespace
}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// Kernels whose calls share what is static: found at every seed, whether it is set anew in each
// call, kept from the last one or made by the first. What calls share in turn is right.
#include "library.h"

namespace opwright::check {
namespace {

struct Call {
  const char* op;
  const char* text;
};

// y [n] from x [n], float64.
const std::vector<Call>& Shared() {
  static const std::vector<Call>& calls = *new std::vector<Call>{
      {"static_row", R"cc(
         static double row[8192];
         for (int64_t i = 0; i < n; ++i) row[i] = 2 * x[i];
         for (int64_t i = 0; i < n; ++i) y[i] = row[n - 1 - i];
       )cc"},
      {"static_vector", R"cc(
         static std::vector<double> row;
         row.assign(x, x + n);
         for (int64_t i = 0; i < n; ++i) y[i] = row[n - 1 - i];
       )cc"},
      {"static_sum_of_parts", R"cc(
         static double sums[2];
         memset(sums, 0, sizeof sums);
         in.ParallelFor(2, 1, [=](int64_t b, int64_t e) {
           for (int64_t p = b; p < e; ++p)
             for (int64_t i = p; i < n; i += 2) sums[p] += x[i];
         });
         for (int64_t i = 0; i < n; ++i) y[i] = x[i] - sums[0] - sums[1];
       )cc"},
      {"static_count_of_what_is_left", R"cc(
         static std::atomic<int64_t> left;
         left = n;
         while (left > 0) {
           const int64_t i = --left;
           y[i] = 2 * x[i];
         }
       )cc"},
      {"refused_while_busy", R"cc(
         static std::atomic<bool> busy;
         if (busy.exchange(true)) return opwright::Status::Error("busy");
         for (int64_t i = 0; i < n; ++i) y[i] = 2 * x[i];
         busy = false;
       )cc"},
      {"global_mean", R"cc(
         mean_of_calls = 0;
         for (int64_t i = 0; i < n; ++i) mean_of_calls += x[i] / double(n);
         for (int64_t i = 0; i < n; ++i) y[i] = x[i] - mean_of_calls;
       )cc"},
  };
  return calls;
}

const std::vector<Call>& Kept() {
  static const std::vector<Call>& calls = *new std::vector<Call>{
      {"static_total", R"cc(
         static double total = 0;
         for (int64_t i = 0; i < n; ++i) total += x[i];
         for (int64_t i = 0; i < n; ++i) y[i] = x[i] + total;
       )cc"},
      {"static_buffer", R"cc(
         static std::vector<double> row(static_cast<size_t>(n));
         for (int64_t i = 0; i < n; ++i) row.data()[i] = 2 * x[i];
         for (int64_t i = 0; i < n; ++i) y[i] = row.data()[n - 1 - i];
       )cc"},
      {"static_values", R"cc(
         static const std::vector<double> first(x, x + n);
         for (int64_t i = 0; i < n; ++i) y[i] = first[0] * x[i];
       )cc"},
      {"static_last", R"cc(
         static double last = 0;
         for (int64_t i = 0; i < n; ++i) y[i] = x[i] + last;
         if (n > 0) last = x[n - 1];
       )cc"},
  };
  return calls;
}

const std::vector<Call>& Sound() {
  static const std::vector<Call>& calls = *new std::vector<Call>{
      {"locked_row", R"cc(
         static std::mutex m;
         static double row[8192];
         const std::lock_guard lock(m);
         for (int64_t i = 0; i < n; ++i) row[i] = 2 * x[i];
         for (int64_t i = 0; i < n; ++i) y[i] = row[n - 1 - i];
       )cc"},
      {"row_of_a_thread", R"cc(
         static thread_local std::vector<double> row;
         row.assign(x, x + n);
         for (int64_t i = 0; i < n; ++i) y[i] = row[n - 1 - i];
       )cc"},
      {"own_vector", R"cc(
         std::vector<double> row(x, x + n);
         for (int64_t i = 0; i < n; ++i) y[i] = row[n - 1 - i];
       )cc"},
      {"own_thread", R"cc(
         std::thread([=] {
           for (int64_t i = 0; i < n; ++i) y[i] = x[n - 1 - i];
         }).join();
       )cc"},
      {"static_table", R"cc(
         static const std::vector<double> table(64, 2.0);
         for (int64_t i = 0; i < n; ++i) y[i] = x[n - 1 - i] * table[i % 64];
       )cc"},
  };
  return calls;
}

constexpr char kBegin[] = R"cc(
  const double* x = in.GetTensor(0).Data<double>();
  double* y = out->GetTensor(0)->Data<double>();
  const int64_t n = in.GetTensor(0).Size();
)cc";

const std::string& Library() {
  static const std::string& path = *new std::string([] {
    std::string source =
        "#include <opwright/kernel.h>\n#include <string.h>\n"
        "#include <atomic>\n#include <mutex>\n#include <thread>\n#include <vector>\n\ndouble "
        "mean_of_calls;\n";
    std::vector<std::string> metadefs;
    for (const auto* calls : {&Shared(), &Kept(), &Sound()})
      for (const Call& call : *calls) {
        source += Kernel(call.op, StrCat(kBegin, call.text));
        metadefs.push_back(Metadef(call.op, {"x: \"n\""}, {"y: \"n\""}, "same(x)"));
      }
    return BuildLibrary("whole_calls", source, metadefs);
  }());
  return path;
}

TEST(WholeCalls, ThatShareWhatIsStaticAreFound) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "it holds back the signals that stop a call";
#endif
  for (const Call& call : Shared())
    for (uint64_t seed = 0; seed < Times(8); ++seed) {
      const OperatorReport op = CheckOne(Library(), call.op, 60, seed);
      EXPECT_NE(FindingOf(op, "CK010"), nullptr) << "seed " << seed << "\n" << TextOf(op);
    }
}

TEST(WholeCalls, ThatKeepSomethingForTheNextAreWrong) {
  for (const Call& call : Kept())
    for (uint64_t seed = 0; seed < Times(8); ++seed) {
      const OperatorReport op = CheckOne(Library(), call.op, 60, seed);
      EXPECT_EQ(op.verdict, Verdict::kWrong) << "seed " << seed << "\n" << TextOf(op);
    }
}

TEST(WholeCalls, ThatKeepToThemselvesOrShareInTurnAreRight) {
  for (const Call& call : Sound()) ExpectSound(Library(), call.op);
}

}  // namespace
}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// Parts of a ParallelFor that write what another one writes are found at every seed; those that
// keep to themselves, or share by atomics and locks without an order, are right.
#include "library.h"

namespace opwright::check {
namespace {

struct Loop {
  const char* op;
  const char* text;
};

// y [d] from x [n, d], float64. Each part has rows or columns.
const std::vector<Loop>& Raced() {
  static const std::vector<Loop>& loops = *new std::vector<Loop>{
      {"adds_to_one_row", R"cc(
         memset(y, 0, d * 8);
         in.ParallelFor(n, 1, [=](int64_t b, int64_t e) {
           for (int64_t i = b; i < e; ++i)
             for (int64_t j = 0; j < d; ++j) y[j] += x[i * d + j];
         });
       )cc"},
      {"static_scratch", R"cc(
         static double column[4096];
         in.ParallelFor(d, 1, [=](int64_t b, int64_t e) {
           for (int64_t j = b; j < e; ++j) {
             for (int64_t i = 0; i < n; ++i) column[i] = 2 * x[i * d + j];
             y[j] = 0;
             for (int64_t i = 0; i < n; ++i) y[j] += column[i];
           }
         });
       )cc"},
      {"captured_sum", R"cc(
         double s = 0;
         in.ParallelFor(n, 1, [&](int64_t b, int64_t e) {
           for (int64_t i = b; i < e; ++i)
             for (int64_t j = 0; j < d; ++j) s += x[i * d + j];
         });
         for (int64_t j = 0; j < d; ++j) y[j] = s;
       )cc"},
      {"one_scratch", R"cc(
         double* s = static_cast<double*>(in.Scratch(8 * (n + 1)));
         in.ParallelFor(d, 1, [=](int64_t b, int64_t e) {
           for (int64_t j = b; j < e; ++j) {
             for (int64_t i = 0; i < n; ++i) s[i] = x[i * d + j] + 1;
             y[j] = 0;
             for (int64_t i = 0; i < n; ++i) y[j] += s[i];
           }
         });
       )cc"},
  };
  return loops;
}

const std::vector<Loop>& Sound() {
  static const std::vector<Loop>& loops = *new std::vector<Loop>{
      {"own_columns", R"cc(
         in.ParallelFor(d, 1, [=](int64_t b, int64_t e) {
           for (int64_t j = b; j < e; ++j) {
             double s = 0;
             for (int64_t i = 0; i < n; ++i) s += x[i * d + j];
             y[j] = s;
           }
         });
       )cc"},
      {"thread_scratch", R"cc(
         in.ParallelFor(d, 1, [=](int64_t b, int64_t e) {
           static thread_local double column[4096];
           for (int64_t j = b; j < e; ++j) {
             for (int64_t i = 0; i < n; ++i) column[i] = 2 * x[i * d + j];
             y[j] = 0;
             for (int64_t i = 0; i < n; ++i) y[j] += column[i];
           }
         });
       )cc"},
      {"atomic_count", R"cc(
         std::atomic<int64_t> c = 0;
         in.ParallelFor(n, 1, [&](int64_t b, int64_t e) {
           for (int64_t i = b; i < e; ++i)
             for (int64_t j = 0; j < d; ++j) c += x[i * d + j] > 0;
         });
         for (int64_t j = 0; j < d; ++j) y[j] = double(c);
       )cc"},
      {"locked_largest", R"cc(
         static std::mutex m;
         for (int64_t j = 0; j < d; ++j) y[j] = -INFINITY;
         in.ParallelFor(n, 1, [=](int64_t b, int64_t e) {
           const std::lock_guard lock(m);
           for (int64_t i = b; i < e; ++i)
             for (int64_t j = 0; j < d; ++j)
               if (x[i * d + j] > y[j]) y[j] = x[i * d + j];
         });
       )cc"},
      {"own_thread", R"cc(
         in.ParallelFor(d, 1, [=](int64_t b, int64_t e) {
           std::thread([=] {
             for (int64_t j = b; j < e; ++j) y[j] = x[j * (n > 0)];
           }).join();
         });
       )cc"},
      {"zero_of_either_sign", R"cc(
         static std::atomic<int> turn{0};
         in.ParallelFor(d, 1, [=](int64_t b, int64_t e) {
           for (int64_t j = b; j < e; ++j) {
             y[j] = x[j];
             if (y[j] == 0) y[j] = ++turn % 2 ? 0.0 : -0.0;
           }
         });
       )cc"},
      {"nested", R"cc(
         in.ParallelFor(d, 1, [&](int64_t b, int64_t e) {
           for (int64_t j = b; j < e; ++j) {
             y[j] = 0;
             in.ParallelFor(1 + n / 4, 1, [=](int64_t f, int64_t) {
               if (f == 0) y[j] = x[j * (n > 0)];
             });
           }
         });
       )cc"},
      {"partial_sums", R"cc(
         double* s = static_cast<double*>(in.Scratch(8 * 64 * (d + 1)));
         memset(s, 0, 8 * 64 * d);
         const int64_t step = (n + 7) / 8;
         in.ParallelFor(8, 1, [=](int64_t b, int64_t e) {
           for (int64_t p = b; p < e; ++p)
             for (int64_t i = p * step; i < n && i < (p + 1) * step; ++i)
               for (int64_t j = 0; j < d; ++j) s[p * d + j] += x[i * d + j];
         });
         for (int64_t j = 0; j < d; ++j) {
           y[j] = 0;
           for (int64_t p = 0; p < 8; ++p) y[j] += s[p * d + j];
         }
       )cc"},
  };
  return loops;
}

constexpr char kBegin[] = R"cc(
  const double* x = in.GetTensor(0).Data<double>();
  double* y = out->GetTensor(0)->Data<double>();
  const int64_t n = in.GetTensor(0).Shape()[0], d = in.GetTensor(0).Shape()[1];
  if (n == 0) {
    memset(y, 0, d * 8);
    return opwright::SUCCESS;
  }
)cc";

const std::string& Library() {
  static const std::string path = [] {
    std::string source =
        "#include <opwright/kernel.h>\n#include <math.h>\n#include <string.h>\n"
        "#include <atomic>\n#include <mutex>\n#include <thread>\n\n";
    std::vector<std::string> metadefs;
    for (const auto* loops : {&Raced(), &Sound()})
      for (const Loop& loop : *loops) {
        source += Kernel(loop.op, StrCat(kBegin, loop.text));
        metadefs.push_back(Metadef(loop.op, {"x: \"n\", \"d\""}, {"y: \"d\""}, ""));
      }
    return BuildLibrary("parts", source, metadefs);
  }();
  return path;
}

TEST(PartsOfALoop, ThatShareMemoryAreFound) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "it holds back the signals that stop a part";
#endif
  for (const Loop& loop : Raced())
    for (uint64_t seed = 1; seed <= Times(4); ++seed) {
      const OperatorReport op = CheckOne(Library(), loop.op, 60, seed);
      EXPECT_NE(FindingOf(op, "CK010"), nullptr) << TextOf(op);
    }
}

TEST(PartsOfALoop, ThatKeepToThemselvesOrShareInTurnAreRight) {
  for (const Loop& loop : Sound())
    for (uint64_t seed = 1; seed <= Times(4); ++seed) {
      const OperatorReport op = CheckOne(Library(), loop.op, 60, seed);
      EXPECT_EQ(op.verdict, Verdict::kRight) << TextOf(op);
    }
}

}  // namespace
}  // namespace opwright::check

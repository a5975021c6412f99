// SPDX-License-Identifier: Apache-2.0
//
// ParallelFor: the same parts whoever runs them, errors from them, and the pool behind it.
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xmmintrin.h>

#include <atomic>
#include <cmath>
#include <numeric>
#include <thread>

#include "registry/host.h"
#include "registry/kernels.h"
#include "runtime/parts.h"

namespace opwright::test {
namespace {

constexpr const char* kSource = R"cpp(
#include <opwright/kernel.h>

#include <new>
#include <stdexcept>

  using opwright::OpKernelInput;
  using opwright::OpKernelOutput;
  using opwright::Status;

  // z[i] = the first item of i's part; the shape of z is the loop's length.
  class PartsKernel : public opwright::OpKernelBase {
   public:
    Status Compute(const OpKernelInput& in, OpKernelOutput* out) override {
      double* z = out->GetTensor(0)->Data<double>();
      in.ParallelFor(out->GetTensor(0)->Size(), in.Attr<int64_t>("grain"),
                     [&](int64_t begin, int64_t end) {
                       for (int64_t i = begin; i < end; ++i) z[i] += static_cast<double>(begin);
                     });
      return opwright::SUCCESS;
    }
  };

  class NestedKernel : public opwright::OpKernelBase {
   public:
    Status Compute(const OpKernelInput& in, OpKernelOutput* out) override {
      double* z = out->GetTensor(0)->Data<double>();
      const int64_t n = out->GetTensor(0)->Size();
      in.ParallelFor(n / 100, 1, [&](int64_t begin, int64_t end) {
        for (int64_t r = begin; r < end; ++r)
          in.ParallelFor(100, 5, [&](int64_t b, int64_t e) {
            for (int64_t i = b; i < e; ++i) z[r * 100 + i] = static_cast<double>(r);
          });
      });
      return opwright::SUCCESS;
    }
  };

  class ThrowsKernel : public opwright::OpKernelBase {
   public:
    Status Compute(const OpKernelInput& in, OpKernelOutput* out) override {
      const int64_t grain = in.Attr<int64_t>("grain");
      in.ParallelFor(1000, grain, [&](int64_t begin, int64_t) {
        if (begin > 400 || grain >= 1000) out->GetTensor(0)->Data<float>();
      });
      return opwright::SUCCESS;
    }
  };

  struct Own {
    int row;
  };
  class RaisesKernel : public opwright::OpKernelBase {
   public:
    Status Compute(const OpKernelInput& in, OpKernelOutput*) override {
      const int64_t what = in.Attr<int64_t>("what");
      try {
        in.ParallelFor(1000, in.Attr<int64_t>("grain"), [&](int64_t, int64_t) {
          if (what == 0) throw std::runtime_error("the matrix is singular at row 7");
          if (what == 1) throw std::bad_alloc();
          if (what == 2) throw 5;
          throw Own{8};
        });
      } catch (const Own& own) {
        return Status::Error("row %d", own.row);
      }
      return opwright::SUCCESS;
    }
  };
)cpp";

class ParallelFor : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string x = Param1("x", R"(["float64"])", "[-2]");
    const std::string z = Param1("z", R"(["float64"])", "[-2]");
    library_ = LoadOrFail(
        BuildLibrary(Operators({Op(x, z, metadef_grain(), "parts"), Op(x, z, "", "nested"),
                                Op(x, z, metadef_grain(), "throws"),
                                Op(x, z,
                                   R"j(, "shape_rule": "same(x)", "attr": [
                                       {"name": "grain", "type": "int"},
                                       {"name": "what", "type": "int"}])j",
                                   "raises")}),
                     kSource));
  }
  static std::string metadef_grain() {
    return R"j(, "attr": [{"name": "grain", "type": "int"}], "shape_rule": "same(x)")j";
  }
  static std::vector<double> RunParts(int64_t n, int64_t grain) {
    Tensor x(kF64, {n}), z(kF64, {n});
    z.Fill(0);
    EXPECT_EQ(Call(*FindOrFail(*library_, "parts"), {x}, {z}, {IntAttr(grain)}), "");
    return z.Values();
  }
  static std::vector<double> Expected(int64_t n, int64_t grain) {
    std::vector<double> values(static_cast<size_t>(n));
    const int64_t parts = std::clamp<int64_t>(n / std::max<int64_t>(grain, 1), 1, 64);
    int64_t begin = 0;
    for (int64_t p = 0; p < parts; ++p) {
      const int64_t end = begin + n / parts + (p < n % parts ? 1 : 0);
      for (int64_t i = begin; i < end; ++i)
        values[static_cast<size_t>(i)] = static_cast<double>(begin);
      begin = end;
    }
    return values;
  }
  static std::shared_ptr<Library> library_;
};
std::shared_ptr<Library> ParallelFor::library_;

TEST_F(ParallelFor, SplitsByLengthAndGrainAlone) {
  for (const int64_t n : {1, 2, 63, 64, 65, 1000, 100003})
    for (const int64_t grain : {-1, 0, 1, 10, 500, 100000})
      EXPECT_EQ(RunParts(n, grain), Expected(n, grain)) << n << " " << grain;
}

TEST_F(ParallelFor, SplitsTheSameWithoutAHost) {
  // What a framework that offers no pool gives a kernel.
  const auto op = FindOrFail(*library_, "parts");
  Tensor x(kF64, {1000}), z(kF64, {1000});
  z.Fill(0);
  OpwrightTensor raw_x = x.raw();
  OpwrightTensor raw_z = z.raw();
  const OpwrightArgument in = {&raw_x, 1};
  OpwrightArgument out = {&raw_z, 1};
  const OpwrightAttr grain = IntAttr(10);
  Launch launch;
  launch.entry = &op->entry();
  launch.def = &op->def();
  launch.instance = *op->Instance();
  launch.inputs = &in;
  launch.outputs = &out;
  launch.attrs = &grain;
  launch.num_inputs = launch.num_outputs = launch.num_attrs = 1;
  ASSERT_TRUE(opwright::Run(launch).ok());
  EXPECT_EQ(z.Values(), Expected(1000, 10));
}

TEST_F(ParallelFor, NestsInItself) {
  Tensor x(kF64, {6400}), z(kF64, {6400});
  EXPECT_EQ(Call(*FindOrFail(*library_, "nested"), {x}, {z}), "");
  const std::vector<double> values = z.Values();
  for (size_t i = 0; i < values.size(); ++i) ASSERT_EQ(values[i], std::floor(i / 100.0));
}

TEST_F(ParallelFor, WhatItsBodyThrowsIsTheCallsError) {
  Tensor x(kF64, {1}), z(kF64, {1});
  for (const int64_t grain : {10, 1000}) {
    const std::string error = Call(*FindOrFail(*library_, "throws"), {x}, {z}, {IntAttr(grain)});
    EXPECT_TRUE(error.starts_with("throws: the kernel failed: Data<float32>() of a float64 tensor"))
        << error;
  }
  EXPECT_EQ(RunParts(1000, 10), Expected(1000, 10)) << "and the pool goes on";
}

TEST_F(ParallelFor, WhatItsBodyThrowsKeepsItsKindAndWordsOnAnyThread) {
  const auto op = FindOrFail(*library_, "raises");
  Tensor x(kF64, {1}), z(kF64, {1});
  const char* const words[] = {
      "Compute threw: the matrix is singular at row 7 [CL012]",
      "Compute ran out of memory (std::bad_alloc) [CL010]",
      "Compute threw something that is no std::exception [CL012]",
      "row 8 [CL011]",
  };
  for (int64_t what = 0; what < 4; ++what)
    for (const int64_t grain : {1, 10, 1000})  // the last one is a single part, on this thread
      EXPECT_EQ(Call(*op, {x}, {z}, {IntAttr(grain), IntAttr(what)}),
                StrCat("raises: the kernel failed: ", words[what]))
          << grain;
}

TEST_F(ParallelFor, RunsFromTwoThreadsAtOnce) {
  const std::vector<double> expected = Expected(20000, 100);
  std::vector<std::thread> threads;
  std::atomic<int> wrong = 0;
  for (int t = 0; t < 2; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i) wrong += RunParts(20000, 100) != expected;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

TEST_F(ParallelFor, RunsInAForkedChildAndInTheParentAfterwards) {
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(RunParts(10000, 10), Expected(10000, 10));
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      alarm(20);
      _exit(RunParts(10000, 10) == Expected(10000, 10) ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  EXPECT_EQ(RunParts(10000, 10), Expected(10000, 10));
}

TEST(Host, HelpersHaveTheFloatingPointModesOfTheLoopsCaller) {
  const OpwrightHost* host = DefaultHost();
  constexpr unsigned kFlushToZero = 0x8040;
  cpu_set_t processors;
  ASSERT_EQ(sched_getaffinity(0, sizeof processors, &processors), 0);
  struct Seen {
    std::thread::id caller = std::this_thread::get_id();
    bool has_helpers;
    std::atomic<bool> helped = false;
    std::atomic<int> parts = 0;
    std::atomic<int> flushing = 0;
  };
  const auto run = [&] {
    Seen seen{.has_helpers = CPU_COUNT(&processors) > 1};
    host->parallel_for(
        host->context, 64, 1,
        [](void* context, int64_t, int64_t) {
          auto* of_all = static_cast<Seen*>(context);
          ++of_all->parts;
          of_all->flushing += (_mm_getcsr() & kFlushToZero) == kFlushToZero;
          if (std::this_thread::get_id() != of_all->caller) {
            of_all->helped = true;
            of_all->helped.notify_one();
          } else if (of_all->has_helpers) {
            of_all->helped.wait(false);
          }
        },
        &seen);
    EXPECT_EQ(seen.parts, 64);
    return seen.flushing.load();
  };
  const unsigned before = _mm_getcsr();
  EXPECT_EQ(run(), 0);
  _mm_setcsr(before | kFlushToZero);
  const int flushing = run();
  _mm_setcsr(before);
  EXPECT_EQ(flushing, 64);
  EXPECT_EQ(run(), 0);
}

TEST(Host, GivesAlignedMemory) {
  const OpwrightHost* host = DefaultHost();
  for (const size_t bytes : {size_t{1}, size_t{63}, size_t{65}, size_t{100000}}) {
    void* memory = host->allocate(host->context, bytes);
    ASSERT_NE(memory, nullptr);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory) % 64, 0u);
    memset(memory, 1, bytes);
    host->release(host->context, memory, bytes);
  }
}

TEST(Parts, CoverTheRangeWithoutGapsAndEachHasAtLeastTheGrain) {
  for (const int64_t n : {int64_t{1}, int64_t{7}, int64_t{64}, int64_t{129}, int64_t{1} << 62})
    for (const int64_t grain : {int64_t{1}, int64_t{3}, int64_t{1000}}) {
      const Parts parts(n, grain);
      EXPECT_EQ(parts.begin(0), 0);
      EXPECT_EQ(parts.begin(parts.count()), n);
      for (int64_t p = 0; p < parts.count(); ++p)
        EXPECT_GE(parts.begin(p + 1) - parts.begin(p), std::min(n, grain)) << n << " " << grain;
    }
}

}  // namespace
}  // namespace opwright::test

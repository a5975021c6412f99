// SPDX-License-Identifier: Apache-2.0
//
// Sixteen threads that load, register and call at the same time. Clean under the thread sanitizer.
#include <gtest/gtest.h>

#include <atomic>
#include <barrier>
#include <thread>

#include "registry/acl_registry.h"
#include "registry/kernels.h"

namespace opwright::test {
namespace {

constexpr int kThreads = 16;

// Runs body(thread) on all threads, which start together.
template <class Body>
void OnThreads(const Body& body) {
  std::barrier start(kThreads);
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      start.arrive_and_wait();
      body(t);
    });
  for (std::thread& thread : threads) thread.join();
}

// A call that uses nothing of GoogleTest: 2 becomes 2 * factor.
bool TwoBecomes(Operator& op, float expected) {
  float x = 2, z = -1;
  int64_t shape[] = {1};
  OpwrightTensor in = {&x, 1, 0, 1, kF32, shape, nullptr, 0};
  OpwrightTensor out = {&z, 1, 0, 1, kF32, shape, nullptr, 0};
  const OpwrightArgument input = {&in, 1};
  OpwrightArgument output = {&out, 1};
  CallArguments arguments;
  arguments.inputs = &input;
  arguments.outputs = &output;
  arguments.num_inputs = arguments.num_outputs = 1;
  return op.Call(arguments).ok() && z == expected;
}

TEST(Threads, LoadTheSameFileAndCallItsOperator) {
  const std::string path = BuildLibrary(ScaleMetadef(), StrCat("// threads\n", ScaleSource("3")));
  std::atomic<int> wrong = 0;
  std::atomic<Library*> seen = nullptr;
  OnThreads([&](int) {
    for (int i = 0; i < 50; ++i) {
      Expected<LibraryHandle> handle = LoadLibrary(path);
      if (!handle.ok()) {
        ++wrong;
        continue;
      }
      Library* none = nullptr;
      if (!seen.compare_exchange_strong(none, handle->shared().get()) &&
          none != handle->shared().get())
        ++wrong;
      const std::shared_ptr<Operator> op = (*handle)->Find("scale");
      for (int k = 0; k < 20; ++k) wrong += !TwoBecomes(*op, 6);
    }
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, MakeOneKernelObject) {
  const std::string source =
      "#include <opwright/kernel.h>\n"
      "static int made = 0;\n"
      "struct OnceKernel : opwright::OpKernelBase {\n"
      "  OnceKernel() { __atomic_fetch_add(&made, 1, __ATOMIC_RELAXED); }\n"
      "  opwright::Status Compute(const opwright::OpKernelInput&, opwright::OpKernelOutput* out) "
      "override {\n"
      "    *out->GetTensor(0)->Data<float>() = static_cast<float>(__atomic_load_n(&made, "
      "__ATOMIC_RELAXED));\n"
      "    return opwright::SUCCESS;\n  }\n};\n";
  const auto op = FindOrFail(*LoadOrFail(BuildLibrary(ScaleMetadef("once"), source)), "once");
  std::atomic<int> wrong = 0;
  OnThreads([&](int) {
    for (int i = 0; i < 100; ++i) wrong += !TwoBecomes(*op, 1);
  });
  EXPECT_EQ(wrong, 0);
}

TEST(Threads, RegisterTheSameOperatorAndCallIt) {
  const std::string kernels = BuildKernels(StrCat("// threads\n", ScaleSource("5")));
  const TempFolder folder = std::move(*TempFolder::Make());
  const std::string metadef = JoinPath(folder.path(), "scale.json");
  ASSERT_TRUE(WriteFileAtomic(metadef, ScaleMetadef()).ok());
  AclRegistry registry;
  std::atomic<int> wrong = 0;
  OnThreads([&](int) {
    wrong += !registry.Load(kernels).ok();
    wrong += !registry.Register("scale").ok();
    wrong += !registry.Model("scale", metadef, "scale").ok();
    for (int i = 0; i < 1000; ++i) {
      const Expected<std::shared_ptr<Operator>> op = registry.Find("scale");
      wrong += !op.ok() || !TwoBecomes(**op, 10);
    }
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace opwright::test

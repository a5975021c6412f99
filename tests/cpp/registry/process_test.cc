// SPDX-License-Identifier: Apache-2.0
//
// How a process ends after it used libraries, whatever it still holds.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "registry/kernels.h"

namespace opwright::test {
namespace {

TEST(ProcessExit, IsCleanAfterCallsThroughAClosedHandle) {
  const std::string path = BuildLibrary(ScaleMetadef(), StrCat("// exit\n", ScaleSource("3")));
  const auto use = [&] {
    std::shared_ptr<Operator> kept;
    {
      const LibraryHandle first = *LoadLibrary(path);
      const LibraryHandle second = *LoadLibrary(path);
      kept = first->Find("scale");
      if (CallScale(*kept, 2) != 6) exit(3);
    }
    Tensor x(kF32, {1}), z(kF32, {1});
    exit(Call(*kept, {x}, {z}).find("was closed") != std::string::npos ? 0 : 4);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(use(), testing::ExitedWithCode(0), "");
}

TEST(ProcessExit, IsCleanWhileOtherThreadsCall) {
  const std::string path = BuildLibrary(ScaleMetadef(), StrCat("// exit\n", ScaleSource("4")));
  const auto use = [&] {
    const auto op = FindOrFail(*LoadOrFail(path), "scale");
    std::atomic<int> calls = 0;
    for (int t = 0; t < 2; ++t)
      std::thread([&] {
        float x = 2, z = 0;
        int64_t shape[] = {1};
        OpwrightTensor in = {&x, 1, 0, 1, kF32, shape, nullptr, 0};
        OpwrightTensor out = {&z, 1, 0, 1, kF32, shape, nullptr, 0};
        for (;;) {
          const OpwrightArgument input = {&in, 1};
          OpwrightArgument output = {&out, 1};
          CallArguments arguments;
          arguments.inputs = &input;
          arguments.outputs = &output;
          arguments.num_inputs = arguments.num_outputs = 1;
          calls += op->Call(arguments).ok();
        }
      }).detach();
    while (calls < 1000) std::this_thread::yield();
    exit(0);
  };
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(use(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace opwright::test

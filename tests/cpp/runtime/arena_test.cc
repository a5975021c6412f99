// SPDX-License-Identifier: Apache-2.0
//
// The memory of one call: every block goes back, whichever thread asked for it.
#include "runtime/arena.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <atomic>
#include <thread>
#include <vector>

namespace opwright {
namespace {

// Each block is a page that was never touched: its first write, in the middle of the push, takes
// long.
constexpr size_t kBlock = 4096;
constexpr size_t kHead = 64;

// Each thread's own memory, so that nothing but the arena makes the threads wait.
thread_local char* free_memory = nullptr;
std::atomic<int> released = 0;

void* Allocate(void*, size_t) {
  void* memory = free_memory;
  free_memory += kBlock;
  return memory;
}

void Release(void*, void*, size_t) { ++released; }

TEST(Arena, BlocksThatSeveralThreadsAskForAtOnceAllGoBack) {
  constexpr int kThreads = 4;
  constexpr int kBlocks = 4000;
  constexpr size_t kBytes = size_t{kThreads} * kBlocks * kBlock;
  OpwrightHost host = {};
  host.struct_size = sizeof host;
  host.allocate = &Allocate;
  host.release = &Release;
  void* const memory =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(memory, MAP_FAILED);
  {
    Arena arena(&host);
    std::atomic<int> ready = 0;
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t)
      threads.emplace_back([&, t] {
        free_memory = static_cast<char*>(memory) + static_cast<size_t>(t) * kBlocks * kBlock;
        ++ready;
        while (ready < kThreads) std::this_thread::yield();
        for (int i = 0; i < kBlocks; ++i) arena.Large(kBlock - kHead);
      });
  }
  munmap(memory, kBytes);
  EXPECT_EQ(released, kThreads * kBlocks);
}

}  // namespace
}  // namespace opwright

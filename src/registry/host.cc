// SPDX-License-Identifier: Apache-2.0
#include "registry/host.h"

#include <pthread.h>
#include <sched.h>
#include <xmmintrin.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>

#include "runtime/host_memory.h"
#include "runtime/parts.h"

namespace opwright {
namespace {

using Body = void (*)(void*, int64_t, int64_t);

// One loop at a time: the caller and the helpers take parts until none is left. A loop that finds
// the pool busy (a nested one, or another thread's) runs in its caller alone. Results are the same.
class Pool {
 public:
  void Run(int64_t n, int64_t grain, Body body, void* context) {
    const Parts parts(n, grain);
    if (parts.count() > 1 && !busy_.test_and_set(std::memory_order_acquire)) {
      const Busy busy(busy_);
      if (Start()) return Share(parts, body, context);
    }
    for (int64_t p = 0; p < parts.count(); ++p) body(context, parts.begin(p), parts.begin(p + 1));
  }

 private:
  // Ends with the loop, however it ends.
  class Busy {
   public:
    explicit Busy(std::atomic_flag& flag) : flag_(flag) {}
    Busy(const Busy&) = delete;
    Busy& operator=(const Busy&) = delete;
    ~Busy() { flag_.clear(std::memory_order_release); }

   private:
    std::atomic_flag& flag_;
  };

  void Share(const Parts& parts, Body body, void* context) {
    {
      const std::lock_guard lock(mutex_);
      parts_ = &parts;
      body_ = body;
      context_ = context;
      modes_ = _mm_getcsr() & ~_MM_EXCEPT_MASK;
      next_.store(0, std::memory_order_relaxed);
      ++generation_;
    }
    wake_.notify_all();
    Work(parts, body, context);
    std::unique_lock lock(mutex_);
    parts_ = nullptr;  // no helper joins from here on
    idle_.wait(lock, [&] { return working_ == 0; });
  }

  void Work(const Parts& parts, Body body, void* context) {
    for (int64_t p; (p = next_.fetch_add(1, std::memory_order_relaxed)) < parts.count();)
      body(context, parts.begin(p), parts.begin(p + 1));
  }

  // False when there are no helpers, as on a machine with one processor.
  bool Start() {
    if (started_) return helpers_ > 0;
    started_ = true;
    cpu_set_t set;
    const int processors = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    try {
      for (; helpers_ < std::min(processors, 16) - 1; ++helpers_)
        std::thread([this] { Help(); }).detach();
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch)
      // The system gives no more threads or memory: those that are there do the work, if only the
      // caller.
    }
    return helpers_ > 0;
  }

  void Help() {
    uint64_t seen = 0;
    std::unique_lock lock(mutex_);
    for (;;) {
      wake_.wait(lock, [&] { return parts_ != nullptr && generation_ != seen; });
      seen = generation_;
      const Parts* const parts = parts_;
      const Body body = body_;
      void* const context = context_;
      const unsigned modes = modes_;
      ++working_;
      lock.unlock();
      const unsigned own_modes = _mm_getcsr();
      _mm_setcsr(modes);
      Work(*parts, body, context);
      _mm_setcsr(own_modes);
      lock.lock();
      if (--working_ == 0) idle_.notify_one();
    }
  }

  std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
  std::mutex mutex_;
  std::condition_variable wake_;
  std::condition_variable idle_;
  const Parts* parts_ = nullptr;
  Body body_ = nullptr;
  void* context_ = nullptr;
  unsigned modes_ = 0;  // the caller's rounding, flush-to-zero and masks: results are the same
  std::atomic<int64_t> next_ = 0;
  uint64_t generation_ = 0;
  int working_ = 0;
  int helpers_ = 0;
  bool started_ = false;
};

std::atomic<Pool*> pool = nullptr;

// Never freed: helpers may wait in it when the process ends. A forked child has no helpers: it
// starts with a pool of its own.
Pool* ThePool() {
  static const bool once = [] {
    pool = new Pool;
    pthread_atfork(nullptr, nullptr, [] { pool = new Pool; });
    return true;
  }();
  (void)once;
  return pool.load(std::memory_order_relaxed);
}

void ParallelFor(void*, int64_t n, int64_t grain, Body body, void* context) {
  ThePool()->Run(n, grain, body, context);
}

constexpr OpwrightHost kHost = {sizeof(OpwrightHost), nullptr,      &host::Allocate,
                                &host::Release,       &ParallelFor, &host::Log};

std::atomic<const OpwrightHost*> current_host = &kHost;

}  // namespace

const OpwrightHost* DefaultHost() { return current_host.load(std::memory_order_relaxed); }

void ReplaceHost(const OpwrightHost* host) {
  current_host.store(host != nullptr ? host : &kHost, std::memory_order_relaxed);
}

}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
#include "check/preempt.h"

#include <semaphore.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <thread>

#include "base/text.h"
#include "check/child.h"
#include "registry/host.h"
#include "runtime/parts.h"

namespace opwright::check {
namespace {

// The part in between may wait for a lock that the stopped one holds.
constexpr int kPatienceMilliseconds = 50;
constexpr int64_t kTrapFlag = 0x100;
// Of a call; a kernel may have one for each row.
constexpr size_t kLoops = 8;

// One part that is stopped and one in between. The processor traps after each instruction.
struct Stepping {
  int64_t stop = 0;  // after so many
  int64_t count = 0;
  sem_t go;  // the part in between
  std::atomic<bool> done = false;
  bool late = false;  // the stopped part went on before it was done
  std::atomic<bool> over = false;  // the part that is stopped has ended
};
std::atomic<Stepping*> stepping = nullptr;

void LetTheOtherRun(Stepping* now) {
  sem_post(&now->go);
  const timespec pause = {0, 20000};
  for (int k = 0; k < kPatienceMilliseconds * 50 && !now->done; ++k) nanosleep(&pause, nullptr);
  now->late = !now->done;
}

// Only calls that may be made in a signal handler.
void OnStep(int, siginfo_t*, void* context) {
  const int error = errno;
  auto& flags = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_EFL];
  Stepping* const now = stepping;
  bool further = now != nullptr && !now->over;
  if (further) {
    ++now->count;
    if (now->count == now->stop) LetTheOtherRun(now);
    further = now->stop == 0 || now->count < now->stop;
    further = further && now->count < Preemption::kMostInstructions;
  }
  if (!further) flags &= ~kTrapFlag;
  errno = error;
}

// Below what a leaf function may keep under the stack's end.
void BeginSteps() {
#if !defined(__SANITIZE_THREAD__)  // which holds signals back
  asm volatile(
      "lea -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), "
      "%%rsp" ::
          : "memory", "cc");
#endif
}

// Runs `part` in steps, and `between` on another thread when it is stopped or after it. How many
// instructions were counted.
int64_t RunInSteps(int64_t stop, const std::function<void()>& part,
                   const std::function<void()>& between, bool* late) {
  Stepping now;
  now.stop = stop;
  sem_init(&now.go, 0, 0);
  std::thread other([&] {
    while (sem_wait(&now.go) != 0) {
    }
    between();
    now.done = true;
  });
  struct sigaction action = {};
  struct sigaction before = {};
  action.sa_sigaction = &OnStep;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, &before);
  stepping = &now;
  SetStepping(true);
  BeginSteps();
  part();
  now.over = true;  // the next trap is the last
  std::atomic_signal_fence(std::memory_order_seq_cst);
  sem_post(&now.go);
  other.join();
  sem_destroy(&now.go);
  *late = *late || now.late;
  stepping = nullptr;
  SetStepping(false);
  sigaction(SIGTRAP, &before, nullptr);
  return now.count;
}

std::atomic_flag busy = ATOMIC_FLAG_INIT;

}  // namespace

Preemption::Preemption(uint64_t round, std::vector<int64_t> stops)
    : round_(round), stops_(std::move(stops)), host_(*DefaultHost()) {
  host_.context = this;
  host_.parallel_for = &ParallelFor;
  ReplaceHost(&host_);
}

Preemption::~Preemption() { ReplaceHost(nullptr); }

std::string Preemption::PartsText() const { return StrCat("parts ", stopped_, " and ", between_); }

void Preemption::ParallelFor(void* context, int64_t n, int64_t grain, Body body,
                             void* body_context) {
  const Parts parts(n, grain);
  // A loop in a part runs in its caller, as it does in any host.
  auto* const self = static_cast<Preemption*>(context);
  if (parts.count() < 2 || self->instructions_.size() >= kLoops || !MayStep() ||
      busy.test_and_set()) {
    for (int64_t p = 0; p < parts.count(); ++p)
      body(body_context, parts.begin(p), parts.begin(p + 1));
    return;
  }
  self->Run(n, grain, body, body_context);
  busy.clear();
}

void Preemption::Run(int64_t n, int64_t grain, Body body, void* body_context) {
  const Parts parts(n, grain);
  const auto count = static_cast<uint64_t>(parts.count());
  stopped_ = static_cast<int64_t>(round_ % count);
  between_ = static_cast<int64_t>((round_ + 1 + round_ / count % (count - 1)) % count);
  const auto run = [&](int64_t p) { body(body_context, parts.begin(p), parts.begin(p + 1)); };
  const size_t loop = instructions_.size();
  const int64_t stop = stops_.empty() ? 0 : stops_[std::min(loop, stops_.size() - 1)];
  for (int64_t p = 0; p < parts.count(); ++p) {
    if (p == stopped_)
      instructions_.push_back(
          RunInSteps(stop, [&] { run(stopped_); }, [&] { run(between_); }, &late_));
    else if (p != between_)
      run(p);
  }
}

Interrupted Interrupt(int64_t stop, const std::function<void()>& call,
                      const std::function<void()>& between) {
  Interrupted interrupted;
  if (!MayStep() || busy.test_and_set()) {
    call();
    return interrupted;
  }
  interrupted.instructions = RunInSteps(stop, call, between, &interrupted.late);
  busy.clear();
  return interrupted;
}

}  // namespace opwright::check

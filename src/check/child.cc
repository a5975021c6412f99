// SPDX-License-Identifier: Apache-2.0
#include "check/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "check/guarded_buffer.h"

namespace opwright::check {
namespace {

ChildState* state_of_this_child = nullptr;

constexpr int kCaught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};

// What the processor's registers say of a fault.
void ReadContext(const void* context, Crash* crash) {
  constexpr uint64_t kNearStack = 1 << 20;
  constexpr greg_t kPageFault = 14;
  constexpr greg_t kWriteBit = 2;
  const greg_t* const registers = static_cast<const ucontext_t*>(context)->uc_mcontext.gregs;
  const auto stack = static_cast<uint64_t>(registers[REG_RSP]);
  crash->at_stack =
      crash->address + kNearStack > stack && crash->address < stack + kNearStack ? 1 : 0;
  if (registers[REG_TRAPNO] == kPageFault)
    crash->access =
        (registers[REG_ERR] & kWriteBit) != 0 ? FaultAccess::kWritten : FaultAccess::kRead;
}

// Only calls that may be made in a signal handler.
void OnCrash(int number, siginfo_t* info, void* context) {
  Crash& crash = state_of_this_child->crash;
  if (number == SIGSEGV || number == SIGBUS) {
    crash.code = info->si_code;
    crash.address = reinterpret_cast<uint64_t>(info->si_addr);
    ReadContext(context, &crash);
    Place place = PlaceOf(info->si_addr);
    if (place.buffer == nullptr) {
      place = NearestTo(info->si_addr);
      crash.is_near = 1;
    }
    if (place.buffer != nullptr) {
      crash.buffer = place.buffer;
      crash.shape = place.shape;
    }
    crash.offset = place.offset;
    crash.size = place.size;
  }
  crash.signal = number;
  _exit(128 + number);
}

void CatchCrashes() {
  // A stack overflow is caught on a stack of its own.
  constexpr size_t kStack = 1 << 16;
  static char stack[kStack];
  stack_t alternate = {};
  alternate.ss_sp = stack;
  alternate.ss_size = kStack;
  sigaltstack(&alternate, nullptr);
  struct sigaction action = {};
  action.sa_sigaction = &OnCrash;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESETHAND;
  sigfillset(&action.sa_mask);
  for (int number : kCaught) sigaction(number, &action, nullptr);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

[[noreturn]] void Child(ChildState* state, const std::function<void()>& body, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setpgid(0, 0);  // a group of its own, with what a kernel forks
  if (getppid() != parent) _exit(1);
  const rlimit no_core = {0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  // What a kernel prints must not get into the report.
  dup2(STDERR_FILENO, STDOUT_FILENO);
  state_of_this_child = state;
  CatchCrashes();
  try {
    body();
  } catch (...) {
    state->threw = 1;
  }
  state->finished = 1;
  _exit(0);
}

int64_t Returned(ChildState* state) {
  return std::atomic_ref(state->returned).load(std::memory_order_relaxed);
}

enum class Waited { kEnded, kTimedOut, kTooSlow };

// The child is left to be waited for. The pipe, which closes when it ends, makes the answer quick,
// but a kernel may close its end, or fork a process that keeps it open.
Waited WaitForEnd(pid_t child, int fd, double timeout_seconds, ChildState* state) {
  using Clock = std::chrono::steady_clock;
  constexpr int kOpenMilliseconds = 50;
  constexpr int kClosedMilliseconds = 1;
  const std::chrono::duration<double> timeout(timeout_seconds);
  auto deadline = Clock::now() + timeout;
  int64_t returned = 0;  // at the first deadline
  bool is_closed = false;
  for (;;) {
    siginfo_t info = {};
    if (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == child)
      return Waited::kEnded;
    if (returned > 0 && Returned(state) > returned) return Waited::kTooSlow;
    if (Clock::now() >= deadline) {
      if (returned > 0 || Returned(state) == 0) return Waited::kTimedOut;
      returned = Returned(state);
      deadline = Clock::now() + timeout;
    }
    pollfd wait = {is_closed ? -1 : fd, POLLIN, 0};
    if (poll(&wait, 1, is_closed ? kClosedMilliseconds : kOpenMilliseconds) > 0) is_closed = true;
  }
}

Outcome RunOnce(ChildState* state, double timeout_seconds, const std::function<void()>& body) {
  Outcome outcome;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return {Ending::kNoChild, errno};
  // Else a kernel's exit() would print what is buffered here a second time.
  fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  const int why_not = errno;
  if (child == 0) {
    close(ends[0]);
    Child(state, body, parent);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return {Ending::kNoChild, why_not};
  }
  const Waited waited = WaitForEnd(child, ends[0], timeout_seconds, state);
  const bool ended = waited == Waited::kEnded;
  close(ends[0]);
  if (!ended) kill(child, SIGKILL);
  kill(-child, SIGKILL);  // before the wait, as long as the number is the child's
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended) {
    outcome.ending = waited == Waited::kTimedOut ? Ending::kTimedOut : Ending::kTooSlow;
  } else if (state->crash.signal != 0) {
    outcome = {Ending::kCrashed, state->crash.signal};
  } else if (WIFSIGNALED(status)) {
    outcome = {Ending::kCrashed, WTERMSIG(status)};
  } else if (state->finished == 0) {
    outcome = {Ending::kExited, WEXITSTATUS(status)};
  } else {
    outcome.ending = Ending::kFinished;
  }
  return outcome;
}

}  // namespace

void* MapShared(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return memory;
}

void CountReturned() {
  if (state_of_this_child != nullptr)
    std::atomic_ref(state_of_this_child->returned).fetch_add(1, std::memory_order_relaxed);
}

bool MayStep() { return state_of_this_child == nullptr || state_of_this_child->steps_failed == 0; }

void SetStepping(bool on) {
  if (state_of_this_child != nullptr) state_of_this_child->stepping = on ? 1 : 0;
}

void UnmapShared(void* memory, size_t bytes) { munmap(memory, bytes); }

Outcome RunInChild(ChildState* state, double timeout_seconds, const std::function<void()>& body) {
  Outcome outcome = RunOnce(state, timeout_seconds, body);
  // What was found before stands; it is not written twice.
  if (outcome.ending == Ending::kCrashed && outcome.code == SIGTRAP && state->stepping != 0) {
    state->stepping = 0;
    state->steps_failed = 1;
    outcome = RunOnce(state, timeout_seconds, body);
  }
  return outcome;
}

}  // namespace opwright::check

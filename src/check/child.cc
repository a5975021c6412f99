// SPDX-License-Identifier: Apache-2.0
#include "check/child.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/text.h"
#include "check/guarded_buffer.h"

namespace opwright::check {
namespace {

ChildState* state_of_this_child = nullptr;

constexpr int kCaught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS};

// Only calls that may be made in a signal handler.
void OnCrash(int number, siginfo_t* info, void*) {
  Crash& crash = state_of_this_child->crash;
  if (number == SIGSEGV || number == SIGBUS) {
    crash.code = info->si_code;
    crash.address = reinterpret_cast<uint64_t>(info->si_addr);
    const Place place = PlaceOf(info->si_addr);
    if (place.buffer != nullptr) crash.buffer = place.buffer;
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

// Whether the child ended in time; it is left to be waited for. The pipe, which closes when it
// ends, makes the answer quick, but a kernel may close its end, or fork a process that keeps it
// open.
bool WaitForEnd(pid_t child, int fd, double timeout_seconds) {
  using Clock = std::chrono::steady_clock;
  constexpr int kOpenMilliseconds = 50;
  constexpr int kClosedMilliseconds = 1;
  const auto deadline = Clock::now() + std::chrono::duration<double>(timeout_seconds);
  bool is_closed = false;
  for (;;) {
    siginfo_t info = {};
    if (waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid == child)
      return true;
    if (Clock::now() >= deadline) return false;
    pollfd wait = {is_closed ? -1 : fd, POLLIN, 0};
    if (poll(&wait, 1, is_closed ? kClosedMilliseconds : kOpenMilliseconds) > 0) is_closed = true;
  }
}

}  // namespace

void* MapShared(size_t bytes) {
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return memory;
}

void UnmapShared(void* memory, size_t bytes) { munmap(memory, bytes); }

Outcome RunInChild(ChildState* state, double timeout_seconds, const std::function<void()>& body) {
  Outcome outcome;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return outcome;
  // Else a kernel's exit() would print what is buffered here a second time.
  fflush(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    Child(state, body, parent);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return outcome;
  }
  const bool ended = WaitForEnd(child, ends[0], timeout_seconds);
  close(ends[0]);
  if (!ended) kill(child, SIGKILL);
  kill(-child, SIGKILL);  // before the wait, as long as the number is the child's
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended) {
    outcome.ending = Ending::kTimedOut;
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

std::string SignalText(int number) {
  const char* name = sigabbrev_np(number);
  const char* what = sigdescr_np(number);
  return StrCat("SIG", name != nullptr ? name : "?", " (", what != nullptr ? what : "unknown", ")");
}

std::string FaultText(const Crash& crash, std::string* kind) {
  if (crash.buffer.chars[0] == 0) {
    if (crash.signal == SIGSEGV && crash.code == SI_KERNEL)
      *kind = "a vector access that needs aligned data: tensors are aligned to their element only";
    return "";
  }
  const std::string buffer = crash.buffer.chars;
  if (crash.offset < 0) {
    *kind = "reads or writes before the begin";
    return StrCat("; it touched memory ", Count(-crash.offset, "byte"), " before the begin of ",
                  buffer, " (", crash.size, " bytes)");
  }
  if (crash.offset >= crash.size) {
    *kind = "reads or writes past the end";
    return StrCat("; it touched memory ", Count(crash.offset - crash.size, "byte"),
                  " past the end of ", buffer, " (", crash.size, " bytes)");
  }
  *kind = "writes an input";
  return StrCat("; it wrote byte ", crash.offset, " of ", buffer, ", which is not its to write");
}

}  // namespace opwright::check

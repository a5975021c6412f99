// SPDX-License-Identifier: Apache-2.0
//
// One case in a process of its own: what it finds comes back through shared memory, also when the
// kernel crashes, ends the process or never returns.
#pragma once

#include <cstdint>
#include <functional>

namespace opwright::check {

// Texts in shared memory: cut to their room, always ended.
template <int kSize>
struct Text {
  char chars[kSize];
  void operator=(const char* text) {
    int k = 0;
    for (; k < kSize - 1 && text[k] != 0; ++k) chars[k] = text[k];
    chars[k] = 0;
  }
};

enum class FaultAccess : int32_t { kUnknown, kRead, kWritten };

struct Crash {
  int32_t signal;  // 0: none
  int32_t code;  // si_code; SI_KERNEL: the processor gave no address, as for an unaligned vector
  uint64_t address;
  FaultAccess access;  // of the address, where the processor says it
  int32_t at_stack;  // the address is near the top of the stack
  int32_t is_near;  // in no pages of the buffer, which is the nearest one
  Text<96> buffer;  // "" when there is none
  Text<96> shape;  // of the buffer's tensor
  int64_t offset;  // from the buffer's begin, in bytes
  int64_t size;  // of the buffer
};

// The first member of the shared memory.
struct ChildState {
  Text<192> stage;  // what was being done, for the report of a crash
  Crash crash;
  int32_t finished;
  int32_t stepping;  // see SetStepping
  int32_t steps_failed;
  int32_t threw;  // the checker itself, not the kernel
  int64_t returned;  // calls of the operator that did
};

// kTimedOut: a call did not return. kTooSlow: each does, but there was no time for all.
enum class Ending { kFinished, kCrashed, kExited, kTimedOut, kTooSlow, kNoChild };
struct Outcome {
  Ending ending = Ending::kNoChild;
  int code = 0;  // the signal, the exit status, or errno of kNoChild
};

// Instructions of the child are stepped from here on, or no longer. A kernel that blocks signals
// meanwhile, as one that starts a thread does, is ended by the step: the child is then run again,
// and may not step.
bool MayStep();
void SetStepping(bool on);

// Zeroed memory that a child shares with its parent.
void* MapShared(size_t bytes);
void UnmapShared(void* memory, size_t bytes);

// One of this child, on any thread.
void CountReturned();

// Runs body in a child. state lies in shared memory. A call that runs when the time is over has as
// much again.
Outcome RunInChild(ChildState* state, double timeout_seconds, const std::function<void()>& body);

}  // namespace opwright::check

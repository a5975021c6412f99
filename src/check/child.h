// SPDX-License-Identifier: Apache-2.0
//
// One case in a process of its own: what it finds comes back through shared memory, also when the
// kernel crashes, ends the process or never returns.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

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

struct Crash {
  int32_t signal;  // 0: none
  int32_t code;  // si_code; SI_KERNEL: the processor gave no address, as for an unaligned vector
  uint64_t address;
  Text<96> buffer;  // "" when the address is in no buffer
  int64_t offset;  // from the buffer's begin, in bytes
  int64_t size;  // of the buffer
};

// The first member of the shared memory.
struct ChildState {
  Text<192> stage;  // what was being done, for the report of a crash
  Crash crash;
  int32_t finished;
  int32_t threw;  // the checker itself, not the kernel
};

enum class Ending { kFinished, kCrashed, kExited, kTimedOut, kNoChild };
struct Outcome {
  Ending ending = Ending::kNoChild;
  int code = 0;  // the signal or the exit status
};

// Zeroed memory that a child shares with its parent.
void* MapShared(size_t bytes);
void UnmapShared(void* memory, size_t bytes);

// Runs body in a child. state lies in shared memory.
Outcome RunInChild(ChildState* state, double timeout_seconds, const std::function<void()>& body);

// "SIGSEGV (Segmentation fault)"
std::string SignalText(int number);

// Where the fault was, in words; kind is set when it says what the mistake is.
std::string FaultText(const Crash& crash, std::string* kind);

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// Two parts of a kernel's ParallelFor, or two whole calls, at the same time, in a way that can be
// had again: one is stopped after some instructions, another runs from its begin to its end, and
// the first goes on. Those that keep to themselves give the same bits as one after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "opwright/c_api.h"

namespace opwright::check {

class Preemption {
 public:
  // In each loop of the calls while this lives. round: which parts; stops: after how many
  // instructions, of each loop (the last for any further ones).
  Preemption(uint64_t round, std::vector<int64_t> stops);
  Preemption(const Preemption&) = delete;
  Preemption& operator=(const Preemption&) = delete;
  ~Preemption();

  // How many instructions the part that is stopped has, of each loop with two parts or more; no
  // more than kMostInstructions are counted.
  static constexpr int64_t kMostInstructions = 4000;
  const std::vector<int64_t>& instructions() const { return instructions_; }
  // Whether the part in between did not end while the other one was stopped, as one that waits for
  // a lock.
  bool late() const { return late_; }
  // "parts 0 and 1"
  std::string PartsText() const;

 private:
  using Body = void (*)(void*, int64_t, int64_t);
  static void ParallelFor(void* context, int64_t n, int64_t grain, Body body, void* body_context);
  void Run(int64_t n, int64_t grain, Body body, void* body_context);

  uint64_t round_;
  std::vector<int64_t> stops_;
  std::vector<int64_t> instructions_;
  int64_t stopped_ = 0;
  int64_t between_ = 0;
  bool late_ = false;
  OpwrightHost host_;
};

struct Interrupted {
  int64_t instructions = 0;  // as of a Preemption
  bool late = false;
};

// Runs `call`, stopped after so many instructions (0: never), and `between` meanwhile or after it.
// Each loop of a Preemption that is there runs in its caller.
Interrupted Interrupt(int64_t stop, const std::function<void()>& call,
                      const std::function<void()>& between);

}  // namespace opwright::check

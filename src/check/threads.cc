// SPDX-License-Identifier: Apache-2.0
#include "check/threads.h"

#include <cstring>
#include <latch>
#include <memory>
#include <thread>
#include <utility>

#include "base/text.h"

namespace opwright::check {
namespace {

constexpr size_t kThreads = 4;
constexpr int kRepeats = 8;

}  // namespace

Bytes Moved(const std::vector<Operand>& operands) {
  Bytes moved(operands.size());
  for (size_t k = 0; k < operands.size(); ++k) {
    if (operands[k].access != Access::kRead) continue;
    Array array = *operands[k].array;
    MoveByOne(&array);
    moved[k] = std::move(array.bytes);
  }
  return moved;
}

// Half of the threads work on other values: state that is shared and always holds the same would
// not show.
void CheckThreads(Recorder* recorder, const std::string& call, const std::vector<Operand>& operands,
                  const Invoke& invoke, const Bytes& other, const Bytes& expected) {
  // A written input cannot be shared.
  for (const Operand& operand : operands)
    if (operand.access == Access::kBoth) return;
  Buffers inputs[2] = {Buffers(operands, Flush::kEnd), Buffers(operands, Flush::kEnd)};
  for (size_t k = 0; k < operands.size(); ++k) {
    const std::vector<char>& bytes = operands[k].array->bytes;
    if (operands[k].access != Access::kRead || bytes.empty()) continue;
    memcpy(inputs[0].memory[k]->data(), bytes.data(), bytes.size());
    memcpy(inputs[1].memory[k]->data(), other[k].data(), bytes.size());
  }
  Bytes wanted[2] = {expected, Bytes(operands.size())};
  if (invoke(inputs[1].tensors.data()).ok()) {
    for (size_t k = 0; k < operands.size(); ++k)
      if (operands[k].access != Access::kRead) wanted[1][k] = inputs[1].memory[k]->Copy();
  } else {
    // The kernel asks for an order: all threads work on the values that it takes.
    wanted[1] = expected;
    for (size_t k = 0; k < operands.size(); ++k) {
      const std::vector<char>& bytes = operands[k].array->bytes;
      if (operands[k].access == Access::kRead && !bytes.empty())
        memcpy(inputs[1].memory[k]->data(), bytes.data(), bytes.size());
    }
  }

  std::vector<std::unique_ptr<Buffers>> own;
  for (size_t t = 0; t < kThreads; ++t) {
    own.push_back(std::make_unique<Buffers>(operands, Flush::kEnd));
    for (size_t k = 0; k < operands.size(); ++k) {
      if (operands[k].access == Access::kRead)
        own.back()->tensors[k].data = inputs[t % 2].memory[k]->data();
      else
        Fill(own.back()->memory[k].get(), operands[k].array->dtype, Poison::kFirst);
    }
  }
  // What each thread saw first: an error, or results that differ. Each call is looked at, since a
  // collision is rare.
  struct Seen {
    std::string error;
    Bytes results;
  };
  std::vector<Seen> seen(kThreads);
  std::vector<std::thread> threads;
  std::latch start(kThreads);
  for (size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      Buffers& mine = *own[t];
      start.arrive_and_wait();
      for (int repeat = 0; repeat < kRepeats && seen[t].error.empty() && seen[t].results.empty();
           ++repeat) {
        if (Status status = invoke(mine.tensors.data()); !status.ok())
          seen[t].error = status.error().message;
        Bytes results(operands.size());
        bool same = true;
        for (size_t k = 0; k < operands.size(); ++k) {
          if (operands[k].access == Access::kRead) continue;
          results[k] = mine.memory[k]->Copy();
          same = same && results[k] == wanted[t % 2][k];
        }
        if (!same) seen[t].results = std::move(results);
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (size_t t = 0; t < kThreads; ++t) {
    const std::string how =
        StrCat(" when ", static_cast<int64_t>(kThreads), " threads called it at once");
    if (!seen[t].error.empty())
      recorder->Add("CK010", Severity::kError, "",
                    StrCat(call, " failed", how, ": ", seen[t].error), "not thread-safe");
    for (size_t k = 0; k < operands.size() && seen[t].error.empty() && !seen[t].results.empty();
         ++k) {
      if (operands[k].access == Access::kRead) continue;
      const int64_t at = FirstDifference(operands[k], wanted[t % 2][k], seen[t].results[k]);
      if (at < 0) continue;
      const OpwrightDType dtype = operands[k].array->dtype;
      recorder->Add("CK010", Severity::kError, operands[k].name,
                    StrCat(call, " gave other results", how, ": ", ElementText(operands[k], at),
                           " is ", ValueOf(seen[t].results[k], dtype, at), ", alone it is ",
                           ValueOf(wanted[t % 2][k], dtype, at)),
                    "not thread-safe");
    }
  }
}

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
#include "entries/host.h"

#include <atomic>
#include <memory>

#include "runtime/c_error.h"

namespace opwright::entries {
namespace {

struct Slot {
  std::atomic<bool> made = false;
  std::atomic_flag busy = ATOMIC_FLAG_INIT;
  void* instance = nullptr;
};

// Never freed: calls may come until the process ends.
Slot* Slots() {
  static Slot* const slots = new Slot[static_cast<size_t>(opwright_stub.num_operators)];
  return slots;
}

}  // namespace

Expected<void*> KernelInstance(int32_t index) {
  Slot& slot = Slots()[index];
  if (slot.made.load(std::memory_order_acquire)) return slot.instance;
  while (slot.busy.test_and_set(std::memory_order_acquire)) slot.busy.wait(true);
  OpwrightError* error = nullptr;
  if (!slot.made.load(std::memory_order_relaxed)) {
    error = opwright_entry_create(opwright_stub.operators[index].entry->kernel, &slot.instance);
    if (error == nullptr) slot.made.store(true, std::memory_order_release);
  }
  slot.busy.clear(std::memory_order_release);
  slot.busy.notify_one();
  if (error != nullptr) return FromC(error);
  return slot.instance;
}

}  // namespace opwright::entries

// SPDX-License-Identifier: Apache-2.0
#include "runtime/arena.h"

#include <cstdlib>

namespace opwright {

constexpr size_t kAlignment = 64;  // also the room for a block's head

void Arena::Release() {
  Block* next = blocks_.exchange(nullptr, std::memory_order_acquire);
  while (next != nullptr) {
    Block* const block = next;
    next = block->next;
    if (host_ != nullptr)
      host_->release(host_->context, block, block->bytes);
    else
      free(block);
  }
}

void* Arena::Large(size_t bytes) {
  if (bytes > SIZE_MAX / 2) return nullptr;
  const size_t total = (bytes + 2 * kAlignment - 1) / kAlignment * kAlignment;
  void* memory =
      host_ != nullptr ? host_->allocate(host_->context, total) : aligned_alloc(kAlignment, total);
  if (memory == nullptr) return nullptr;
  auto* const block = new (memory) Block{blocks_.load(std::memory_order_relaxed), total};
  while (!blocks_.compare_exchange_weak(block->next, block, std::memory_order_release,
                                        std::memory_order_relaxed)) {
  }
  return static_cast<char*>(memory) + kAlignment;
}

void* Arena::LargeOrThrow(size_t bytes) {
  void* memory = Large(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
//
// Memory for the length of one call: a few kilobytes inline, then blocks from the host or the heap.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include "opwright/c_api.h"

namespace opwright {

class Arena {
 public:
  explicit Arena(const OpwrightHost* host) : host_(host) {}
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() {
    if (blocks_.load(std::memory_order_relaxed) != nullptr) Release();
  }

  // For small arrays of plain data; not cleared. Throws std::bad_alloc. One thread at a time.
  template <class T>
  T* Make(int64_t count) {
    static_assert(std::is_trivially_destructible_v<T>);
    return static_cast<T*>(Small(sizeof(T) * static_cast<size_t>(count)));
  }
  // 64-byte aligned, for data. Null when there is none. From any thread: a kernel may ask for
  // scratch inside of a parallel loop.
  void* Large(size_t bytes);

 private:
  struct Block {
    Block* next;
    size_t bytes;
  };
  void* Small(size_t bytes) {
    bytes = (bytes + 15) & ~size_t{15};
    if (bytes > sizeof inline_ - used_) return LargeOrThrow(bytes);
    void* memory = inline_ + used_;
    used_ += bytes;
    return memory;
  }
  void* LargeOrThrow(size_t bytes);
  void Release();

  const OpwrightHost* host_;
  std::atomic<Block*> blocks_ = nullptr;
  size_t used_ = 0;
  alignas(16) char inline_[2048];
};

}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
#include "check/guarded_buffer.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>

namespace opwright::check {
namespace {

constexpr unsigned char kCanary = 0xC5;

// What a signal handler can read: fixed memory, one entry a buffer, begin stored last.
struct Entry {
  std::atomic<const char*> begin = nullptr;
  const char* end = nullptr;
  const char* data = nullptr;
  size_t size = 0;
  char name[96] = {};
  char shape[96] = {};
};
constexpr int kEntries = 512;
Entry entries[kEntries];

// On each side, so that a vector load, a row or a slip of an index beyond the border faults too. Of
// pages that are never touched only addresses are taken; where those are few, two pages do.
constexpr size_t kMargin = 4 << 20;

template <size_t N>
void Keep(const std::string& text, char (&chars)[N]) {
  const size_t length = std::min(text.size(), N - 1);
  memcpy(chars, text.data(), length);
  chars[length] = 0;
}

size_t PageSize() { return static_cast<size_t>(sysconf(_SC_PAGESIZE)); }

}  // namespace

GuardedBuffer::GuardedBuffer(const std::string& name, const std::string& shape, size_t bytes,
                             Flush flush)
    : size_(bytes) {
  const size_t page = PageSize();
  // Empty data has no page of its own: any access is a fault.
  body_size_ = (bytes + page - 1) / page * page;
  void* memory = MAP_FAILED;
  size_t margin = 0;
  for (const size_t wanted : {kMargin, 2 * page}) {
    margin = wanted;
    mapped_ = body_size_ + 2 * margin;
    memory = mmap(nullptr, mapped_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) break;
  }
  if (memory == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<char*>(memory);
  body_ = base_ + margin;
  if (body_size_ > 0 && mprotect(body_, body_size_, PROT_READ | PROT_WRITE) != 0) {
    munmap(base_, mapped_);
    throw std::bad_alloc();
  }
  data_ = flush == Flush::kEnd ? body_ + body_size_ - bytes : body_;
  Repair();
  for (int k = 0; k < kEntries; ++k) {
    Entry& entry = entries[k];
    if (entry.begin.load(std::memory_order_relaxed) != nullptr) continue;
    entry.end = base_ + mapped_;
    entry.data = data_;
    entry.size = size_;
    Keep(name, entry.name);
    Keep(shape, entry.shape);
    entry.begin.store(base_, std::memory_order_release);
    slot_ = k;
    break;
  }
}

GuardedBuffer::~GuardedBuffer() {
  if (slot_ >= 0) entries[slot_].begin.store(nullptr, std::memory_order_release);
  munmap(base_, mapped_);
}

void GuardedBuffer::SetReadOnly(bool read_only) {
  if (body_size_ > 0) mprotect(body_, body_size_, read_only ? PROT_READ : PROT_READ | PROT_WRITE);
}

std::optional<GuardedBuffer::Damaged> GuardedBuffer::Damage() const {
  const auto look = [](const char* from, const char* end, int step) {
    Damaged damaged = {step < 0, 0, 0};
    int64_t distance = 1;
    for (const char* at = from; at != end; at += step, ++distance) {
      if (static_cast<unsigned char>(*at) == kCanary) continue;
      if (damaged.bytes++ == 0) damaged.distance = distance;
    }
    return damaged;
  };
  if (body_size_ == 0) return std::nullopt;
  if (Damaged after = look(data_ + size_, body_ + body_size_, 1); after.bytes > 0) return after;
  if (Damaged before = look(data_ - 1, body_ - 1, -1); before.bytes > 0) return before;
  return std::nullopt;
}

void GuardedBuffer::Repair() {
  if (body_size_ == 0) return;
  memset(body_, kCanary, static_cast<size_t>(data_ - body_));
  memset(data_ + size_, kCanary, static_cast<size_t>(body_ + body_size_ - (data_ + size_)));
}

Place PlaceOf(const void* address) {
  const auto* at = static_cast<const char*>(address);
  for (const Entry& entry : entries) {
    const char* const begin = entry.begin.load(std::memory_order_acquire);
    if (begin != nullptr && at >= begin && at < entry.end)
      return {entry.name, entry.shape, at - entry.data, static_cast<int64_t>(entry.size)};
  }
  return {};
}

Place NearestTo(const void* address) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  Place nearest;
  uintptr_t least = UINTPTR_MAX;
  for (const Entry& entry : entries) {
    if (entry.begin.load(std::memory_order_acquire) == nullptr) continue;
    const auto data = reinterpret_cast<uintptr_t>(entry.data);
    const uintptr_t distance = at < data ? data - at : at - data;
    if (distance >= least) continue;
    least = distance;
    nearest = {entry.name, entry.shape, static_cast<int64_t>(at - data),
               static_cast<int64_t>(entry.size)};
  }
  return nearest;
}

}  // namespace opwright::check

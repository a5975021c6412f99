// SPDX-License-Identifier: Apache-2.0
//
// A fixed number of plain values, inline when they are few: a call allocates nothing for itself.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>

namespace opwright::entries {

template <class T, size_t kInline>
class InlineArray {
  static_assert(std::is_trivially_destructible_v<T>);

 public:
  // Not cleared.
  explicit InlineArray(int64_t size) : size_(static_cast<size_t>(size)) {
    if (size_ <= kInline) return;
    heap_.reset(new T[size_]);
    data_ = heap_.get();
  }
  InlineArray(const InlineArray&) = delete;
  InlineArray& operator=(const InlineArray&) = delete;

  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](int64_t i) { return data_[i]; }
  const T& operator[](int64_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }

 private:
  size_t size_;
  T inline_[kInline];
  T* data_ = inline_;
  std::unique_ptr<T[]> heap_;
};

}  // namespace opwright::entries

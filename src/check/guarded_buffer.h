// SPDX-License-Identifier: Apache-2.0
//
// Memory between pages that may not be touched, with a pattern in what is left of its own
// pages. A step outside is a fault whose address names the buffer, or a broken pattern.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace opwright::check {

// Which end of the data lies on a forbidden page. At kEnd it is aligned to its element only.
enum class Flush { kEnd, kBegin };

class GuardedBuffer {
 public:
  // name, shape: of its tensor, for Place.
  GuardedBuffer(const std::string& name, const std::string& shape, size_t bytes, Flush flush);
  GuardedBuffer(const GuardedBuffer&) = delete;
  GuardedBuffer& operator=(const GuardedBuffer&) = delete;
  ~GuardedBuffer();

  char* data() const { return data_; }
  size_t size() const { return size_; }
  std::vector<char> Copy() const { return {data_, data_ + size_}; }
  void SetReadOnly(bool read_only);
  // What was overwritten around the data: on one side, after it if on both.
  struct Damaged {
    bool before;
    int64_t distance;  // of the nearest byte, 1: next to the data
    int64_t bytes;
  };
  std::optional<Damaged> Damage() const;
  void Repair();  // the pattern

 private:
  char* base_ = nullptr;
  char* body_ = nullptr;  // the pages that may be touched
  size_t body_size_ = 0;
  size_t mapped_ = 0;
  char* data_ = nullptr;
  size_t size_ = 0;
  int slot_ = -1;
};

// Where an address lies. Safe in a signal handler.
struct Place {
  const char* buffer = nullptr;  // null: in no buffer's pages
  const char* shape = nullptr;  // of the buffer's tensor, as text
  int64_t offset = 0;  // in bytes from the data's begin
  int64_t size = 0;  // of the data
};
Place PlaceOf(const void* address);
// The buffer whose data is nearest to an address outside of all their pages.
Place NearestTo(const void* address);

}  // namespace opwright::check

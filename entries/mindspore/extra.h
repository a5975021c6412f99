// SPDX-License-Identifier: Apache-2.0
//
// The attributes of MindSpore's primitive, behind the `extra` of an ahead-of-time call. MindSpore's
// interface takes std::string as GCC 4 had it; extra.cc is compiled for that, and nothing of it
// shows here.
#pragma once

#include <cstddef>
#include <cstdint>

namespace opwright::entries {

// Reads one attribute object. Values live until the reader ends. What MindSpore throws, such as a
// value of another type, passes through.
class ExtraReader {
 public:
  explicit ExtraReader(void* extra) : extra_(extra) {}
  ExtraReader(const ExtraReader&) = delete;
  ExtraReader& operator=(const ExtraReader&) = delete;
  ~ExtraReader();

  bool Has(const char* name) const;
  int64_t Int(const char* name) const;
  bool Bool(const char* name) const;
  float Float(const char* name) const;
  const char* String(const char* name, int64_t* size);
  const int64_t* Ints(const char* name, int64_t* size);
  const float* Floats(const char* name, int64_t* size);
  // Rows as one list: the number of rows, the length of each, then all values.
  const int64_t* IntRows(const char* name);

 private:
  struct Held;
  void* Hold(const void* data, size_t bytes);

  void* extra_;
  Held* held_ = nullptr;
};

}  // namespace opwright::entries

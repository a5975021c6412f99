// SPDX-License-Identifier: Apache-2.0
//
// JSON as a tree in which every key and value knows its bytes in the text, repeated keys included.
// What the values mean is not this file's business.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace opwright::metadef {

enum class JsonKind { kNull, kBool, kInt, kFloat, kString, kList, kObject };

struct JsonMember;

struct JsonValue {
  JsonKind kind = JsonKind::kNull;
  size_t begin = 0;  // bytes [begin, end) of the text
  size_t end = 0;
  bool boolean = false;
  bool out_of_range = false;  // an integer that int64_t does not hold
  int64_t integer = 0;
  double number = 0;  // of kInt and kFloat
  std::string string;
  std::vector<JsonValue> items;
  std::vector<JsonMember> members;

  bool is(JsonKind other) const { return kind == other; }
  // The first member of that name, or null.
  const JsonValue* Find(std::string_view key) const;
};

struct JsonMember {
  std::string key;
  size_t key_begin = 0;
  size_t key_end = 0;
  JsonValue value;
};

inline constexpr size_t kMaxJsonBytes = size_t{16} << 20;
inline constexpr size_t kMaxJsonDepth = 64;
inline constexpr size_t kMaxJsonTokens = 1'000'000;

// On failure errors has exactly one Diagnostic (MD002 or MD003) and the result is of no use.
JsonValue ParseJson(std::string_view text, const std::string& file,
                    std::vector<Diagnostic>* errors);

// The byte of the text at which byte `index` of a string value was written, escapes counted as they
// stand.
size_t SourceOffset(std::string_view text, const JsonValue& string, size_t index);

// "the string \"abc\"", "the number 3", "a list of 2 entries": what stands there, for messages.
std::string Describe(const JsonValue& value);

// Where the lines of a text start.
class LineIndex {
 public:
  explicit LineIndex(std::string_view text);
  int Line(size_t offset) const;
  int Column(size_t offset) const;
  // Code points of [begin, end).
  int Length(size_t begin, size_t end) const;

 private:
  // Code points before a byte.
  int Before(size_t offset) const;

  std::string_view text_;
  std::vector<size_t> starts_;
  std::vector<int> before_;  // every kStep bytes: a metadef may be one long line
};

}  // namespace opwright::metadef

// SPDX-License-Identifier: Apache-2.0
//
// Small text functions: joining, quoting, nearest names, identifiers.
#pragma once

#include <charconv>
#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace opwright {

namespace internal {
inline void Append(std::string& out, std::string_view piece) { out += piece; }
inline void Append(std::string& out, const char* piece) { out += piece; }
inline void Append(std::string& out, char piece) { out += piece; }
template <std::integral T>
void Append(std::string& out, T number) {
  char digits[24];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}
void Append(std::string& out, double number);
}  // namespace internal

// The pieces, one after the other. Numbers in decimal, doubles in the shortest form that reads
// back.
template <class... Pieces>
std::string StrCat(const Pieces&... pieces) {
  std::string out;
  (internal::Append(out, pieces), ...);
  return out;
}

std::string Join(std::span<const std::string> parts, std::string_view separator);

// "a, b and c"
std::string JoinAnd(std::span<const std::string> parts);

std::vector<std::string> Split(std::string_view text, char separator);
std::string_view Trim(std::string_view text);

// The candidate with the least edit distance, if it is near enough to be a slip; "" otherwise.
std::string Nearest(std::string_view word, std::span<const std::string> candidates);

// "ElementAdd" -> "element_add", "RMSNorm" -> "rms_norm", "Conv2D" -> "conv2d".
std::string SnakeCase(std::string_view camel);

// The text as a JSON string with its quotes; what is no UTF-8 becomes U+FFFD.
std::string JsonQuote(std::string_view text);

// "2 inputs", "1 input"
std::string Count(int64_t n, std::string_view noun);

}  // namespace opwright

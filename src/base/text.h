// SPDX-License-Identifier: Apache-2.0
//
// Small text functions: joining, quoting, nearest names, identifiers.
#pragma once

#include <concepts>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace opwright {

namespace internal {

// One argument of StrCat as text. Each conversion is out of line: most calls stand on paths to an
// error, and every operator library carries them.
class Piece {
 public:
  Piece(std::string_view text) : data_(text.data()), size_(text.size()) {}  // NOLINT
  Piece(const std::string& text) : data_(text.data()), size_(text.size()) {}  // NOLINT
  Piece(const char* text);  // NOLINT
  Piece(char character);  // NOLINT
  template <std::integral T>
  Piece(T number)
      : Piece(Number(), static_cast<long long>(number), std::is_signed_v<T>) {}  // NOLINT
  Piece(double number);  // NOLINT
  Piece(const Piece&) = delete;
  std::string_view text() const { return {data_ != nullptr ? data_ : own_, size_}; }

 private:
  struct Number {};
  Piece(Number, long long number, bool is_signed);

  const char* data_ = nullptr;  // null: own_
  size_t size_ = 0;
  char own_[32];
};

std::string Concat(const Piece* pieces, size_t count);

}  // namespace internal

// The pieces, one after the other. Numbers in decimal, doubles in the shortest form that reads
// back.
template <class... Pieces>
std::string StrCat(const Pieces&... pieces) {
  const internal::Piece list[] = {pieces...};
  return internal::Concat(list, sizeof...(pieces));
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

// The text with U+FFFD for each byte that is no UTF-8: what a kernel says may be anything.
std::string ValidUtf8(std::string_view text);

// The text as a JSON string with its quotes; what is no UTF-8 becomes U+FFFD.
std::string JsonQuote(std::string_view text);

// Two small hexadecimal digits for each byte.
std::string HexOf(std::string_view bytes);

// "helper(int)" of "_Z6helperi"; a name that is not mangled stays.
std::string Demangle(const std::string& symbol);

// Whether the names are the same ones in another order.
bool IsReordered(std::span<const std::string> names, std::span<const std::string> order);

// "2 inputs", "1 input"
std::string Count(int64_t n, std::string_view noun);

}  // namespace opwright

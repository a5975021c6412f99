// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"

#include <cxxabi.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace opwright {

namespace internal {

Piece::Piece(const char* text) : data_(text), size_(strlen(text)) {}

Piece::Piece(char character) : size_(1) { own_[0] = character; }

Piece::Piece(double number)
    : size_(static_cast<size_t>(std::to_chars(own_, own_ + sizeof own_, number).ptr - own_)) {}

Piece::Piece(Number, long long number, bool is_signed) {
  char* const end = own_ + sizeof own_;
  const std::to_chars_result result =
      is_signed ? std::to_chars(own_, end, number)
                : std::to_chars(own_, end, static_cast<unsigned long long>(number));
  size_ = static_cast<size_t>(result.ptr - own_);
}

std::string Concat(const Piece* pieces, size_t count) {
  size_t size = 0;
  for (size_t i = 0; i < count; ++i) size += pieces[i].text().size();
  std::string out;
  out.reserve(size);
  for (size_t i = 0; i < count; ++i) out += pieces[i].text();
  return out;
}

}  // namespace internal

std::string Join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) out += separator;
    out += parts[i];
  }
  return out;
}

std::string JoinAnd(std::span<const std::string> parts) {
  if (parts.size() < 2) return Join(parts, "");
  return StrCat(Join(parts.first(parts.size() - 1), ", "), " and ", parts.back());
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  for (;;) {
    const size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end == text.npos ? text.npos : end - begin));
    if (end == text.npos) return parts;
    begin = end + 1;
  }
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

namespace {

// Letters left out, put in, replaced, or exchanged with their neighbour.
size_t EditDistance(std::string_view a, std::string_view b) {
  const auto same = [&](size_t i, size_t j) {
    return std::tolower(static_cast<unsigned char>(a[i])) ==
           std::tolower(static_cast<unsigned char>(b[j]));
  };
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  std::vector<size_t> above = row;
  std::vector<size_t> second = row;  // the row above that one
  for (size_t i = 1; i <= a.size(); ++i) {
    second.swap(above);
    above.swap(row);
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      row[j] =
          std::min({above[j - 1] + (same(i - 1, j - 1) ? 0 : 1), above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && same(i - 1, j - 2) && same(i - 2, j - 1))
        row[j] = std::min(row[j], second[j - 2] + 1);
    }
  }
  return row.back();
}

bool IsSameIgnoringCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

}  // namespace

std::string Nearest(std::string_view word, std::span<const std::string> candidates) {
  std::string best;
  size_t best_distance = std::max<size_t>(1, std::min<size_t>(3, word.size() / 2)) + 1;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(word.substr(0, 128), candidate);
    // What has no letter in common is another word: n is not x, but N is n.
    const bool other =
        distance >= std::max(word.size(), candidate.size()) && !IsSameIgnoringCase(word, candidate);
    if (distance < best_distance && !other) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string SnakeCase(std::string_view camel) {
  const auto upper = [&](size_t i) {
    return i < camel.size() && std::isupper(static_cast<unsigned char>(camel[i]));
  };
  const auto lower = [&](size_t i) {
    return i < camel.size() && std::islower(static_cast<unsigned char>(camel[i]));
  };
  std::string out;
  for (size_t i = 0; i < camel.size(); ++i) {
    // A word starts at a capital after a small letter, or at one before a small letter.
    if (i > 0 && upper(i) && camel[i - 1] != '_' && (lower(i - 1) || lower(i + 1))) out += '_';
    out += static_cast<char>(std::tolower(static_cast<unsigned char>(camel[i])));
  }
  return out;
}

namespace {

// The length of the UTF-8 sequence at the head of text, 0 if it is none.
size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  const size_t length = lead < 0x80       ? 1
                        : lead >> 5 == 6  ? 2
                        : lead >> 4 == 14 ? 3
                        : lead >> 3 == 30 ? 4
                                          : 0;
  if (length == 0 || length > text.size()) return 0;
  for (size_t i = 1; i < length; ++i)
    if (byte(i) >> 6 != 2) return 0;
  const bool overlong = (length == 2 && lead < 0xc2) ||
                        (length == 3 && lead == 0xe0 && byte(1) < 0xa0) ||
                        (length == 4 && lead == 0xf0 && byte(1) < 0x90);
  const bool outside = (length == 3 && lead == 0xed && byte(1) > 0x9f) ||
                       (length == 4 && (lead > 0xf4 || (lead == 0xf4 && byte(1) > 0x8f)));
  return overlong || outside ? 0 : length;
}

}  // namespace

std::string ValidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    out += length == 0 ? std::string_view("\xef\xbf\xbd") : text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

std::string JsonQuote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const char c = text[0];
    if (length == 0) {
      out += "\xef\xbf\xbd";
    } else if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (static_cast<unsigned char>(c) < 0x20) {
      constexpr char kHex[] = "0123456789abcdef";
      out += "\\u00";
      out += kHex[(c >> 4) & 15];
      out += kHex[c & 15];
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out + '"';
}

std::string HexOf(std::string_view bytes) {
  constexpr char kHex[] = "0123456789abcdef";
  std::string hex;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    hex += kHex[byte >> 4];
    hex += kHex[byte & 15];
  }
  return hex;
}

std::string Demangle(const std::string& symbol) {
  int failed = 0;
  const std::unique_ptr<char, void (*)(void*)> text(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &failed), &free);
  return failed == 0 ? std::string(text.get()) : symbol;
}

bool IsReordered(std::span<const std::string> names, std::span<const std::string> order) {
  return !std::equal(names.begin(), names.end(), order.begin(), order.end()) &&
         std::is_permutation(names.begin(), names.end(), order.begin(), order.end());
}

std::string Count(int64_t n, std::string_view noun) {
  return StrCat(n, " ", noun, n == 1 ? "" : "s");
}

}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
#include "base/dtype_name.h"

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/text.h"

namespace opwright {
namespace {

// A name is that of the kind and its bits; bool has one size alone, and no number.
struct Kind {
  std::string_view name;
  uint8_t code;
  int bits[4];  // those that a metadef can list
};
constexpr Kind kKinds[] = {
    {"float", kOpwrightFloat, {16, 32, 64}},
    {"bfloat", kOpwrightBfloat, {16}},
    {"int", kOpwrightInt, {8, 16, 32, 64}},
    {"uint", kOpwrightUInt, {8, 16, 32, 64}},
    {"bool", kOpwrightBool, {8}},
    {"complex", kOpwrightComplex, {64, 128}},
};

int BitsOf(const Kind& kind, std::string_view number) {
  if (kind.code == kOpwrightBool) return number.empty() ? kind.bits[0] : 0;
  if (number.starts_with('0')) return 0;
  int bits = 0;
  for (const char digit : number) {
    if (digit < '0' || digit > '9' || bits > 99) return 0;
    bits = bits * 10 + (digit - '0');
  }
  return bits;
}

}  // namespace

OpwrightDType DTypeNamed(std::string_view name) {
  for (const Kind& kind : kKinds) {
    if (!name.starts_with(kind.name)) continue;
    const int bits = BitsOf(kind, name.substr(kind.name.size()));
    if (bits > 0 &&
        std::find(std::begin(kind.bits), std::end(kind.bits), bits) != std::end(kind.bits))
      return {kind.code, static_cast<uint8_t>(bits), 1};
  }
  return {0, 0, 0};
}

std::string DTypeName(OpwrightDType dtype) {
  if (dtype.lanes == 0)
    return dtype.code == kOpwrightFloat  ? "a float number"
           : dtype.code == kOpwrightBool ? "a bool"
                                         : "an int number";
  for (const Kind& kind : kKinds) {
    if (kind.code != dtype.code) continue;
    if (dtype.code == kOpwrightBool) return std::string(kind.name);
    return StrCat(kind.name, static_cast<int>(dtype.bits),
                  dtype.lanes > 1 ? StrCat("x", static_cast<int>(dtype.lanes)) : std::string());
  }
  return StrCat("an unknown dtype (DLPack code ", static_cast<int>(dtype.code), ")");
}

}  // namespace opwright

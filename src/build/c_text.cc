// SPDX-License-Identifier: Apache-2.0
#include "build/c_text.h"

#include <cmath>
#include <cstdio>
#include <limits>

#include "base/text.h"

namespace opwright::build {

std::string CString(std::string_view text) {
  std::string out = "\"";
  for (size_t i = 0; i < text.size(); ++i) {
    const unsigned char c = static_cast<unsigned char>(text[i]);
    if (c == '\n') {
      out += i + 1 < text.size() ? "\\n\"\n    \"" : "\\n";
    } else if (c == '"' || c == '\\' || c == '?') {
      out += '\\';
      out += static_cast<char>(c);
    } else if (c < 0x20 || c > 0x7e) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\%03o", static_cast<unsigned>(c));
      out += escape;
    } else {
      out += static_cast<char>(c);
    }
  }
  return out + '"';
}

std::string CInt64(int64_t value) {
  if (value == std::numeric_limits<int64_t>::min()) return "(-INT64_C(9223372036854775807) - 1)";
  return StrCat("INT64_C(", value, ")");
}

std::string CDouble(double value) {
  if (std::isnan(value)) return "__builtin_nan(\"\")";
  if (std::isinf(value)) return value < 0 ? "-__builtin_inf()" : "__builtin_inf()";
  char text[48];
  std::snprintf(text, sizeof text, "%a", value);
  return text;
}

}  // namespace opwright::build

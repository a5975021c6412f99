// SPDX-License-Identifier: Apache-2.0
//
// SHA-256: the one hash of cache keys, identities and pins; equal to Python's hashlib.sha256.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"

namespace opwright {

class Sha256 {
 public:
  Sha256();
  Sha256& Update(std::string_view bytes);
  // With its length in front, so that two fields can never run together.
  Sha256& Field(std::string_view bytes);
  // 64 hex digits. The object is spent.
  std::string Hex();

 private:
  alignas(16) std::array<unsigned char, 128> state_;
};

std::string Sha256Hex(std::string_view bytes);

// Of a file's content. The error has no id, as ReadFile's.
Expected<std::string> Sha256OfFile(const std::string& path);

}  // namespace opwright

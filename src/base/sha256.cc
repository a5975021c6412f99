// SPDX-License-Identifier: Apache-2.0
//
// OpenSSL's low-level functions: they use the processor's SHA instructions and link 20 KB, where
// the EVP interface links 4 MB of providers. They are deprecated in favour of it, not unsafe.
#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/sha256.h"

#include <openssl/sha.h>

#include <cstring>

#include "base/file.h"
#include "base/text.h"

namespace opwright {
namespace {
SHA256_CTX* Context(std::array<unsigned char, 128>& state) {
  return reinterpret_cast<SHA256_CTX*>(state.data());
}
}  // namespace

static_assert(sizeof(SHA256_CTX) <= 128);

Sha256::Sha256() { SHA256_Init(Context(state_)); }

Sha256& Sha256::Update(std::string_view bytes) {
  SHA256_Update(Context(state_), bytes.data(), bytes.size());
  return *this;
}

Sha256& Sha256::Field(std::string_view bytes) {
  const uint64_t size = bytes.size();
  Update({reinterpret_cast<const char*>(&size), sizeof size});
  return Update(bytes);
}

std::string Sha256::Hex() {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256_Final(digest, Context(state_));
  return HexOf({reinterpret_cast<const char*>(digest), sizeof digest});
}

std::string Sha256Hex(std::string_view bytes) { return Sha256().Update(bytes).Hex(); }

Expected<std::string> Sha256OfFile(const std::string& path) {
  Expected<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.TakeError();
  return Sha256Hex(*bytes);
}

}  // namespace opwright

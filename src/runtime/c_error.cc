// SPDX-License-Identifier: Apache-2.0
#include "runtime/c_error.h"

#include <new>

#include "base/text.h"

namespace opwright {
namespace {

struct OwnedError {
  OpwrightError base;  // first: the pointer to it is the pointer to the whole
  std::string code;
  std::string message;
  std::string diagnostics;
};

void DestroyOwned(OpwrightError* self) { delete reinterpret_cast<OwnedError*>(self); }
void DestroyNothing(OpwrightError*) {}

OpwrightError no_memory = {sizeof(OpwrightError), "CL010", "no memory", nullptr, &DestroyNothing};

std::string DiagnosticsJson(const std::vector<Diagnostic>& diagnostics) {
  std::string json = "[";
  for (const Diagnostic& d : diagnostics) {
    if (json.size() > 1) json += ", ";
    json += DiagnosticJson(d);
  }
  return json + "]";
}

}  // namespace

OpwrightError* ToC(const Error& error) noexcept {
  try {
    auto* owned = new OwnedError{{}, error.id, error.message, {}};
    if (!error.diagnostics.empty()) owned->diagnostics = DiagnosticsJson(error.diagnostics);
    owned->base = {sizeof(OpwrightError), owned->code.c_str(), owned->message.c_str(),
                   owned->diagnostics.empty() ? nullptr : owned->diagnostics.c_str(),
                   &DestroyOwned};
    return &owned->base;
  } catch (...) {
    return &no_memory;
  }
}

Error FromC(OpwrightError* error) {
  // Code and words are the library's: Python and JSON take UTF-8 alone.
  Error own = MakeError(ValidUtf8(error->code ? error->code : ""),
                        ValidUtf8(error->message ? error->message : ""));
  error->destroy(error);
  return own;
}

}  // namespace opwright

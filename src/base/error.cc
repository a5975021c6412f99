// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include "base/text.h"

namespace opwright {
namespace {

const char* SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      break;
  }
  return "error";
}

}  // namespace

std::string Render(const Diagnostic& d) {
  std::string text;
  if (!d.file.empty()) text = StrCat(d.file, ":");
  if (d.line > 0) text += d.column > 0 ? StrCat(d.line, ":", d.column, ":") : StrCat(d.line, ":");
  if (!text.empty()) text += ' ';
  text += StrCat(SeverityName(d.severity), ": ", d.message);
  if (!d.hint.empty()) text += StrCat("; ", d.hint);
  if (!d.id.empty()) text += StrCat(" [", d.id, "]");
  return text;
}

std::string Error::Text() const {
  std::string text = id.empty() ? message : StrCat(message, " [", id, "]");
  for (const Diagnostic& diagnostic : diagnostics) text += StrCat("\n  ", Render(diagnostic));
  return text;
}

}  // namespace opwright

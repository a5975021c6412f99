// SPDX-License-Identifier: Apache-2.0
#include "base/error.h"

#include "base/text.h"

namespace opwright {

Error::Error() = default;
Error::Error(std::string error_id, std::string text, std::vector<Diagnostic> list)
    : id(std::move(error_id)), message(std::move(text)), diagnostics(std::move(list)) {}
Error::Error(const Error& other) = default;
Error::Error(Error&& other) noexcept = default;
Error& Error::operator=(const Error& other) = default;
Error& Error::operator=(Error&& other) noexcept = default;
Error::~Error() = default;

Status::Status(Error error) : error_(std::make_unique<Error>(std::move(error))) {}

Error MakeError(std::string_view id, std::string message) {
  return {std::string(id), std::move(message)};
}

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

std::string DiagnosticJson(const Diagnostic& d) {
  return StrCat("{\"file\": ", JsonQuote(d.file), ", \"line\": ", d.line,
                ", \"column\": ", d.column, ", \"length\": ", d.length, ", \"severity\": \"",
                SeverityName(d.severity), "\", \"id\": ", JsonQuote(d.id),
                ", \"message\": ", JsonQuote(d.message), ", \"hint\": ", JsonQuote(d.hint), "}");
}

std::string Error::Text() const {
  std::string text = id.empty() ? message : StrCat(message, " [", id, "]");
  for (const Diagnostic& diagnostic : diagnostics) text += StrCat("\n  ", Render(diagnostic));
  return text;
}

}  // namespace opwright

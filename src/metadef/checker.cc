// SPDX-License-Identifier: Apache-2.0
#include "metadef/checker.h"

#include <algorithm>

#include "base/text.h"

namespace opwright::metadef {

Checker::Checker(std::string_view text, std::string file)
    : text_(text), file_(std::move(file)), lines_(text) {}

Span Checker::SpanOf(size_t begin, size_t end) const {
  return {lines_.Line(begin), lines_.Column(begin), lines_.Length(begin, end)};
}

std::string Checker::Place(size_t offset) const {
  return StrCat("line ", lines_.Line(offset), ", column ", lines_.Column(offset));
}

void Checker::Add(Severity severity, std::string_view id, size_t begin, size_t end,
                  std::string message, std::string hint) {
  const Span span = SpanOf(begin, end);
  found_.emplace_back(begin, Diagnostic{std::string(id), severity, file_, span.line, span.column,
                                        span.length, std::move(message), std::move(hint)});
}

void Checker::Error(std::string_view id, size_t begin, size_t end, std::string message,
                    std::string hint) {
  ++errors_;
  Add(Severity::kError, id, begin, end, std::move(message), std::move(hint));
}

void Checker::Error(std::string_view id, const JsonValue& at, std::string message,
                    std::string hint) {
  // Of a list or an object the opening bracket is shown, not all its lines.
  const bool bracket = at.is(JsonKind::kList) || at.is(JsonKind::kObject);
  Error(id, at.begin, bracket ? at.begin + 1 : at.end, std::move(message), std::move(hint));
}

void Checker::Warning(std::string_view id, size_t begin, size_t end, std::string message,
                      std::string hint) {
  Add(Severity::kWarning, id, begin, end, std::move(message), std::move(hint));
}

void Checker::ErrorInString(std::string_view id, const JsonValue& string, size_t begin, size_t end,
                            std::string message, std::string hint) {
  const size_t from = SourceOffset(text_, string, begin);
  const size_t to = end > begin ? SourceOffset(text_, string, end) : from + 1;
  Error(id, from, to, std::move(message), std::move(hint));
}

std::vector<Diagnostic> Checker::Take() {
  std::stable_sort(found_.begin(), found_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Diagnostic> diagnostics;
  diagnostics.reserve(found_.size());
  for (auto& [offset, diagnostic] : found_) diagnostics.push_back(std::move(diagnostic));
  return diagnostics;
}

}  // namespace opwright::metadef

// SPDX-License-Identifier: Apache-2.0
#include "cli/validate.h"

#include <algorithm>
#include <cstdio>

#include "base/error.h"
#include "base/file.h"
#include "base/ids.h"
#include "base/text.h"
#include "metadef/json_tree.h"
#include "metadef/metadef.h"

namespace opwright::cli {
namespace {

struct Report {
  std::vector<std::string> files;
  std::vector<Diagnostic> diagnostics;
  int64_t operators = 0;
  int64_t errors = 0;
  int64_t warnings = 0;
  bool unreadable = false;
};

// A pipe that is named itself, as <(command) is, may be read; one in a folder may not.
metadef::ReadResult ReadGiven(const std::string& file, const std::vector<std::string>& given) {
  if (!IsPipe(file) || std::find(given.begin(), given.end(), file) == given.end())
    return metadef::ReadFile(file);
  const Expected<std::string> text = ReadPipe(file, metadef::kMaxJsonBytes);
  if (text.ok()) return metadef::Read(*text, file);
  metadef::ReadResult unread;
  unread.diagnostics.push_back(
      {"MD001", Severity::kError, file, 0, 0, 0, text.error().message, ""});
  return unread;
}

// An operator folder stands for its op.json.
Report Validate(const std::vector<std::string>& given) {
  Report report;
  for (const std::string& path : given)
    report.files.push_back(IsDirectory(path) ? JoinPath(path, metadef::kFileName) : path);
  for (const std::string& file : report.files) {
    metadef::ReadResult result = ReadGiven(file, given);
    report.operators += static_cast<int64_t>(result.operators.size());
    for (Diagnostic& d : result.diagnostics) {
      report.errors += d.severity == Severity::kError;
      report.warnings += d.severity == Severity::kWarning;
      report.unreadable |= d.id == "MD001";
      report.diagnostics.push_back(std::move(d));
    }
  }
  return report;
}

std::string Colored(const Diagnostic& d) {
  std::string plain = Render(d);
  const std::string word = StrCat(SeverityName(d.severity), ": ");
  const size_t at = plain.find(word);
  if (at == plain.npos) return plain;
  return StrCat(plain.substr(0, at), d.severity == Severity::kError ? "\033[31m" : "\033[33m",
                plain.substr(at, word.size() - 1), "\033[0m", plain.substr(at + word.size() - 1));
}

std::string Text(const Report& report, bool color) {
  std::string out;
  for (const Diagnostic& d : report.diagnostics)
    out += StrCat(color ? Colored(d) : Render(d), "\n");
  return out + StrCat(Count(static_cast<int64_t>(report.files.size()), "file"), ", ",
                      Count(report.operators, "valid operator"), ", ",
                      Count(report.errors, "error"), ", ", Count(report.warnings, "warning"), "\n");
}

std::string JsonList(const std::vector<std::string>& items) {
  return items.empty() ? "[]" : StrCat("[\n    ", Join(items, ",\n    "), "\n  ]");
}

std::string Json(const Report& report) {
  std::vector<std::string> files;
  for (const std::string& file : report.files) files.push_back(JsonQuote(file));
  std::vector<std::string> items;
  for (const Diagnostic& d : report.diagnostics) items.push_back(DiagnosticJson(d));
  return StrCat("{\n  \"files\": ", JsonList(files), ",\n  \"operators\": ", report.operators,
                ",\n  \"errors\": ", report.errors, ",\n  \"warnings\": ", report.warnings,
                ",\n  \"diagnostics\": ", JsonList(items), "\n}\n");
}

// A path as a URI reference: what RFC 3986 does not let stand in a path is percent-encoded.
std::string Uri(std::string_view path) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (char c : path) {
    if (kPlain.find(c) != kPlain.npos) {
      uri += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      uri += StrCat("%", kHex[byte >> 4], kHex[byte & 15]);
    }
  }
  return uri;
}

std::string SarifResult(const Diagnostic& d) {
  const std::string text = d.hint.empty() ? d.message : StrCat(d.message, "; ", d.hint);
  std::string region;
  if (d.line > 0)
    region = StrCat(", \"region\": {\"startLine\": ", d.line, ", \"startColumn\": ", d.column,
                    ", \"endColumn\": ", d.column + d.length, "}");
  return StrCat("{\"ruleId\": ", JsonQuote(d.id), ", \"level\": \"", SeverityName(d.severity),
                "\", \"message\": {\"text\": ", JsonQuote(text),
                "}, \"locations\": [{\"physicalLocation\": {\"artifactLocation\": {\"uri\": ",
                JsonQuote(Uri(d.file)), "}", region, "}}]}");
}

std::string Sarif(const Report& report) {
  std::vector<std::string> rules;
  for (const ErrorId& row : AllErrorIds()) {
    const bool used = std::any_of(report.diagnostics.begin(), report.diagnostics.end(),
                                  [&](const Diagnostic& d) { return d.id == row.id; });
    if (used)
      rules.push_back(StrCat("{\"id\": ", JsonQuote(row.id),
                             ", \"shortDescription\": {\"text\": ", JsonQuote(row.summary),
                             "}, \"fullDescription\": {\"text\": ", JsonQuote(row.cause),
                             "}, \"help\": {\"text\": ", JsonQuote(row.cure), "}}"));
  }
  std::vector<std::string> results;
  for (const Diagnostic& d : report.diagnostics) results.push_back(SarifResult(d));
  return StrCat("{\n  \"$schema\": \"https://json.schemastore.org/sarif-2.1.0.json\",\n",
                "  \"version\": \"2.1.0\",\n  \"runs\": [{\n  \"tool\": {\"driver\": {\"name\": "
                "\"opwright\", ",
                "\"rules\": ", JsonList(rules), "}},\n  \"columnKind\": \"unicodeCodePoints\",\n",
                "  \"results\": ", JsonList(results), "\n  }]\n}\n");
}

}  // namespace

int RunValidate(const std::vector<std::string>& files, const std::string& format, bool color) {
  const Report report = Validate(files);
  const std::string out = format == "json"    ? Json(report)
                          : format == "sarif" ? Sarif(report)
                                              : Text(report, color);
  std::fwrite(out.data(), 1, out.size(), stdout);
  return report.unreadable ? 2 : report.errors > 0 ? 1 : 0;
}

}  // namespace opwright::cli

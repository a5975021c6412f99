// SPDX-License-Identifier: Apache-2.0
#include "build/compiler_output.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/text.h"
#include "build/manifest.h"

namespace opwright::build {
namespace {

struct Place {
  std::string file;
  int line = 0;
  int column = 0;
};

// "FILE:LINE[:COL]:" or "FILE:LINE[:COL]," at the head of text; rest is what follows.
std::optional<Place> ReadPlace(std::string_view text, std::string_view* rest) {
  for (size_t colon = text.find(':'); colon != text.npos && colon > 0;
       colon = text.find(':', colon + 1)) {
    Place place;
    const char* const end = text.data() + text.size();
    auto [at, failed] = std::from_chars(text.data() + colon + 1, end, place.line);
    if (failed != std::errc() || at == end || (*at != ':' && *at != ',')) continue;
    place.file = text.substr(0, colon);
    if (*at == ':') {
      auto [next, no_column] = std::from_chars(at + 1, end, place.column);
      if (no_column == std::errc() && next != end && (*next == ':' || *next == ',')) {
        at = next;
      } else {
        place.column = 0;
      }
    }
    *rest = Trim(std::string_view(at + 1, static_cast<size_t>(end - at - 1)));
    return place;
  }
  return std::nullopt;
}

// Typographic quotes of the UTF-8 locale.
std::string PlainQuotes(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view three = text.substr(i, 3);
    if (three == "\xe2\x80\x98" || three == "\xe2\x80\x99") {
      out += '\'';
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

class Cutter {
 public:
  explicit Cutter(const std::string& headers) : headers_(headers + "/") {}

  std::vector<Diagnostic> Run(std::string_view output) {
    for (const std::string& line : Split(output, '\n')) Line(line);
    Finish();
    std::stable_sort(found_.begin(), found_.end(), [](const Diagnostic& a, const Diagnostic& b) {
      return (a.severity == Severity::kError) > (b.severity == Severity::kError);
    });
    return std::move(found_);
  }

 private:
  bool IsUsers(const std::string& file) const {
    return !file.empty() && file[0] != '<' && !file.starts_with(headers_) && !IsSystemFile(file);
  }

  void Line(std::string_view line) {
    constexpr std::string_view kIncluded = "In file included from ";
    std::string_view text = line;
    if (text.starts_with(kIncluded)) {
      Finish();
      text.remove_prefix(kIncluded.size());
    }
    const std::string_view trimmed = Trim(text);
    if (trimmed.starts_with("from ")) text = trimmed.substr(5);
    std::string_view rest;
    const std::optional<Place> place = ReadPlace(text, &rest);
    if (!place.has_value()) {
      // "FILE: In instantiation of ..." starts the explanation of the next error.
      if (line.find(": In ") != line.npos) Finish();
      if (line.starts_with("cc1plus: fatal error: ") || line.find(": fatal error: ") != line.npos)
        Start(Severity::kError, {}, line.substr(line.find("fatal error: ") + 13));
      return;
    }
    if (rest.starts_with("error: ")) return Start(Severity::kError, *place, rest.substr(7));
    if (rest.starts_with("fatal error: ")) return Start(Severity::kError, *place, rest.substr(13));
    if (rest.starts_with("warning: ")) return Start(Severity::kWarning, *place, rest.substr(9));
    const bool requested =
        rest.find("requested here") != rest.npos || rest.find("required from") != rest.npos;
    if (rest.starts_with("note: ") && !requested) return;
    if (!IsUsers(place->file)) return;
    // clang tells after the error what gcc tells before it.
    if (pending_.has_value() && requested && rest.starts_with("note: ")) {
      if (!placed_) MoveTo(*place, &*pending_);
      placed_ = true;
      return;
    }
    if (requested && pending_.has_value()) Finish();
    context_.push_back({*place, requested});
  }

  static void MoveTo(const Place& place, Diagnostic* d) {
    d->file = place.file;
    d->line = place.line;
    d->column = place.column;
  }

  void Start(Severity severity, const Place& place, std::string_view message) {
    std::vector<Context> context;
    context.swap(context_);
    if (pending_.has_value()) {
      context_.clear();
      Finish();
    }
    Diagnostic d;
    d.severity = severity;
    d.file = place.file;
    d.line = place.line;
    d.column = place.column;
    d.message = PlainQuotes(message);
    placed_ = IsUsers(place.file);
    if (!place.file.empty() && !placed_) {
      // The instantiation nearest to the error, else the include.
      const auto best = std::find_if(context.begin(), context.end(),
                                     [](const Context& c) { return c.requested; });
      placed_ = best != context.end();
      const auto chosen = placed_ ? best : context.begin();
      if (chosen != context.end()) MoveTo(chosen->place, &d);
    }
    pending_ = std::move(d);
  }

  void Finish() {
    context_.clear();
    if (!pending_.has_value()) return;
    Diagnostic d = std::move(*pending_);
    pending_.reset();
    if (d.severity == Severity::kWarning && !IsUsers(d.file)) return;
    const bool known = std::any_of(found_.begin(), found_.end(), [&](const Diagnostic& other) {
      return other.file == d.file && other.line == d.line && other.column == d.column &&
             other.message == d.message;
    });
    if (!known) found_.push_back(std::move(d));
  }

  struct Context {
    Place place;
    bool requested;
  };

  std::string headers_;
  std::vector<Context> context_;  // the user's lines named since the last diagnostic
  std::optional<Diagnostic> pending_;
  bool placed_ = false;  // pending_ has the line that matters; an include is only a substitute
  std::vector<Diagnostic> found_;
};

}  // namespace

std::vector<Diagnostic> UserDiagnostics(std::string_view output, const std::string& headers) {
  return Cutter(headers).Run(output);
}

}  // namespace opwright::build

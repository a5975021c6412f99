// SPDX-License-Identifier: Apache-2.0
#include "build/header_names.h"

#include <algorithm>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "build/manifest.h"
#include "build/token.h"

namespace opwright::build {
namespace {

// Each name that a line spells and that may be a header's: between quotes or angles, as a
// condition, a definition or a flag's macro has it, or a bare word with a dot or a slash, out of
// which a macro makes a string. Too many rather than too few.
void AddHeaderNamesOfLine(std::string_view line, std::set<std::string>* names) {
  const auto add = [&](std::string_view name) {
    if (!Trim(name).empty()) names->emplace(name);
  };
  for (const Token& token : Tokenize(line))
    if (token.kind == Token::Kind::kString) add(token.text);
  // A '<' may be a comparison's: the last one before a '>' opens the name.
  for (size_t end = 0; (end = line.find('>', end)) != line.npos; ++end)
    if (const size_t open = line.find_last_of("<>\"", end - 1); open < end && line[open] == '<')
      add(line.substr(open + 1, end - open - 1));
  constexpr std::string_view kBetween = " \t\"<>(),=";
  for (size_t begin = 0; begin < line.size();) {
    const size_t end = std::min(line.find_first_of(kBetween, begin), line.size());
    const std::string_view word = line.substr(begin, end - begin);
    if (word.find_first_of("./") != word.npos) names->emplace(word);
    begin = end + 1;
  }
}

void AddHeaderNames(std::string_view text, std::set<std::string>* names) {
  for (const Token& token : Tokenize(text))
    if (token.kind == Token::Kind::kDirective) AddHeaderNamesOfLine(token.text, names);
}

bool AsksForHeaders(std::string_view text) {
  return text.find("__has_include") != text.npos || text.find("__has_embed") != text.npos;
}

}  // namespace

std::vector<std::string> AbsentNames(std::string_view source,
                                     const std::vector<std::string>& command,
                                     const std::vector<std::string>& headers) {
  std::set<std::string> names;
  AddHeaderNames(source, &names);
  for (const std::string& word : command)
    if (word.starts_with("-D")) AddHeaderNamesOfLine(std::string_view(word).substr(2), &names);
  bool any_asks = AsksForHeaders(source);
  for (const std::string& header : headers) {
    const Expected<std::string> text = ReadFile(header);
    if (!text.ok()) continue;
    const bool asks = AsksForHeaders(*text);
    any_asks = any_asks || asks;
    // A name may be defined in one header of the user's and asked for in another.
    if (asks || !IsSystemFile(header)) AddHeaderNames(*text, &names);
  }
  std::vector<std::string> absent;
  for (const std::string& name : names) {
    const auto is_it = [&](const std::string& header) { return header.ends_with("/" + name); };
    if (any_asks && std::none_of(headers.begin(), headers.end(), is_it)) absent.push_back(name);
  }
  return absent;
}

}  // namespace opwright::build

// SPDX-License-Identifier: Apache-2.0
#include "build/header_names.h"

#include "build/token.h"

namespace opwright::build {

void AddHeaderNamesOfLine(std::string_view line, std::set<std::string>* names) {
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '"' && line[i] != '<') continue;
    const size_t end = line.find(line[i] == '"' ? '"' : '>', i + 1);
    if (end != line.npos && end > i + 1) names->emplace(line.substr(i + 1, end - i - 1));
  }
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

}  // namespace opwright::build

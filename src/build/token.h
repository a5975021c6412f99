// SPDX-License-Identifier: Apache-2.0
//
// C++ source as tokens: comments, literals and line splices are dealt with, preprocessor lines come
// as one token each. It is no preprocessor.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opwright::build {

struct Token {
  enum class Kind { kWord, kNumber, kString, kCharacter, kPunctuation, kDirective };
  Kind kind;
  // A string's content without quotes; a directive without '#', comments and splices: "if 0".
  std::string text;
  int line;

  bool Is(std::string_view word) const {
    return text == word && (kind == Kind::kWord || kind == Kind::kPunctuation);
  }
};

// Of an identifier or a number.
bool IsWordPart(char c);

// Every punctuation character is a token of its own, but "::" is one.
std::vector<Token> Tokenize(std::string_view source);

}  // namespace opwright::build

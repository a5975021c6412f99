// SPDX-License-Identifier: Apache-2.0
#include "build/token.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"

namespace opwright::build {
namespace {

bool WordStart(char c) {
  return std::isalpha(static_cast<unsigned char>(c)) || c == '_' || c == '$' || (c & 0x80) != 0;
}
std::string Unspliced(std::string_view token) {
  std::string joined(token);
  for (const std::string_view splice : {"\\\n", "\\\r\n"})
    for (size_t at = 0; (at = joined.find(splice)) != joined.npos;) joined.erase(at, splice.size());
  return joined;
}

class Tokenizer {
 public:
  explicit Tokenizer(std::string_view source) : s_(source) {}

  std::vector<Token> Run() {
    bool line_start = true;
    while (at_ < s_.size()) {
      const char c = s_[at_];
      if (c == '\n') {
        ++line_;
        ++at_;
        line_start = true;
      } else if (Splice() || std::isspace(static_cast<unsigned char>(c))) {
        ++at_;
      } else if (Comment()) {
      } else if (line_start && (c == '#' || (c == '%' && Peek(1) == ':'))) {
        Directive();
      } else {
        line_start = false;
        One(c);
      }
    }
    return std::move(tokens_);
  }

 private:
  char Peek(size_t ahead = 0) const { return at_ + ahead < s_.size() ? s_[at_ + ahead] : '\0'; }
  void Add(Token::Kind kind, std::string text, int line) {
    tokens_.push_back({kind, std::move(text), line});
  }

  // A backslash before the line's end: the newline is counted, and left behind.
  bool Splice() {
    if (Peek() != '\\') return false;
    const size_t end = at_ + (Peek(1) == '\r' ? 2 : 1);
    if (end >= s_.size() || s_[end] != '\n') return false;
    ++line_;
    at_ = end;
    return true;
  }

  bool Comment() {
    if (Peek() != '/' || (Peek(1) != '/' && Peek(1) != '*')) return false;
    const bool block = Peek(1) == '*';
    at_ += 2;
    while (at_ < s_.size()) {
      if (block && Peek() == '*' && Peek(1) == '/') {
        at_ += 2;
        break;
      }
      if (Peek() == '\n') {
        if (!block) break;
        ++line_;
      } else if (!block) {
        Splice();
      }
      ++at_;
    }
    return true;
  }

  void Directive() {
    const int line = line_;
    std::string text;
    at_ += Peek() == '#' ? 1 : 2;
    const auto before = static_cast<ptrdiff_t>(tokens_.size());
    while (at_ < s_.size() && Peek() != '\n') {
      if (Splice()) {
        ++at_;
        text += ' ';
      } else if (Comment()) {
        text += ' ';
      } else {  // a token, for what stands in a literal begins no comment
        const size_t begin = at_;
        One(s_[at_]);
        text += Unspliced(s_.substr(begin, at_ - begin));
      }
    }
    tokens_.erase(tokens_.begin() + before, tokens_.end());
    Add(Token::Kind::kDirective, std::string(Trim(text)), line);
  }

  void One(char c) {
    const int line = line_;
    if (WordStart(c)) {
      const size_t begin = at_;
      while (at_ < s_.size() && IsWordPart(s_[at_])) ++at_;
      const std::string_view word = s_.substr(begin, at_ - begin);
      const bool prefix = word == "R" || word == "L" || word == "u" || word == "U" || word == "u8";
      const bool raw = word == "R" || word == "LR" || word == "uR" || word == "UR" || word == "u8R";
      if (raw && Peek() == '"') return RawString();
      if (prefix && (Peek() == '"' || Peek() == '\'')) return Quoted();
      Add(Token::Kind::kWord, std::string(word), line);
    } else if (std::isdigit(static_cast<unsigned char>(c)) ||
               (c == '.' && std::isdigit(static_cast<unsigned char>(Peek(1))))) {
      const size_t begin = at_;
      while (IsWordPart(Peek()) || Peek() == '.' || (Peek() == '\'' && IsWordPart(Peek(1))) ||
             ((Peek() == '+' || Peek() == '-') &&
              std::string_view("eEpP").find(s_[at_ - 1]) != s_.npos))
        ++at_;
      Add(Token::Kind::kNumber, std::string(s_.substr(begin, at_ - begin)), line);
    } else if (c == '"' || c == '\'') {
      Quoted();
    } else if (c == ':' && Peek(1) == ':') {
      at_ += 2;
      Add(Token::Kind::kPunctuation, "::", line);
    } else {
      ++at_;
      Add(Token::Kind::kPunctuation, std::string(1, c), line);
    }
  }

  void Quoted() {
    const int line = line_;
    const char quote = s_[at_++];
    std::string text;
    while (at_ < s_.size() && Peek() != quote && Peek() != '\n') {
      if (Splice()) {
        ++at_;
        continue;
      }
      if (Peek() == '\\' && at_ + 1 < s_.size()) text += s_[at_++];
      text += s_[at_++];
    }
    if (Peek() == quote) ++at_;
    Add(quote == '"' ? Token::Kind::kString : Token::Kind::kCharacter, std::move(text), line);
  }

  void RawString() {
    const int line = line_;
    const size_t open = s_.find('(', at_);
    if (open == s_.npos) return Quoted();
    const std::string close = StrCat(")", s_.substr(at_ + 1, open - at_ - 1), "\"");
    size_t end = s_.find(close, open + 1);
    if (end == s_.npos) end = s_.size();
    const std::string_view text = s_.substr(open + 1, end - open - 1);
    for (const char c : text) line_ += c == '\n';
    at_ = std::min(end + close.size(), s_.size());
    Add(Token::Kind::kString, std::string(text), line);
  }

  std::string_view s_;
  size_t at_ = 0;
  int line_ = 1;
  std::vector<Token> tokens_;
};

}  // namespace

bool IsWordPart(char c) { return WordStart(c) || std::isdigit(static_cast<unsigned char>(c)); }

std::vector<Token> Tokenize(std::string_view source) { return Tokenizer(source).Run(); }

}  // namespace opwright::build

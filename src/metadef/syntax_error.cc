// SPDX-License-Identifier: Apache-2.0
#include "metadef/syntax_error.h"

#include <algorithm>

#include "base/text.h"
#include "metadef/json_tree.h"

namespace opwright::metadef {
namespace {

bool IsSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

bool IsWord(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

class Explainer {
 public:
  Explainer(std::string_view text, const std::string& file, const SyntaxContext& context)
      : text_(text), file_(file), context_(context), lines_(text) {}

  Diagnostic Run() {
    if (text_.starts_with("\xef\xbb\xbf"))
      return Say(0, 3, "the file starts with a byte order mark (BOM)",
                 "save it as UTF-8 without BOM");
    if (text_.starts_with("\xff\xfe") || text_.starts_with("\xfe\xff"))
      return Say(0, 2, "the file is UTF-16", "save it as UTF-8 without BOM");
    FindToken();
    if (at_ >= text_.size()) return AtEnd();
    const char c = text_[at_];
    if (at_ > 0 && at_ == context_.after && text_[at_ - 1] == '0' && c >= '0' && c <= '9')
      return Say(at_ - 1, NumberLength() + 1, "a number with a leading zero", "remove the zero");
    if (context_.number_overflow)
      return Say(at_, NumberLength(), "the number is too large for a double",
                 "write a smaller one");
    if (c == '/' || c == '#') return Say(at_, 1, "a comment; JSON has none", "remove it");
    if (c == '\'')
      return Say(at_, 1, "single quotes; JSON strings have double quotes", "write \"...\"");
    if (c == '"') return InString();
    if ((c == ']' || c == '}') && separator_ == ',')
      return Say(separator_at_, 1, StrCat("a comma before ", Quoted(c), "; JSON allows none"),
                 "remove the comma");
    if (c == ',' && (separator_ == ',' || AfterOpening()))
      return Say(at_, 1, "a comma with nothing before it", "remove the comma");
    if (IsWord(c) || c == '-' || c == '+' || c == '.') return AtWord();
    return Say(at_, 1, StrCat(Found(c), ", expected ", Wanted()), "");
  }

 private:
  static std::string Quoted(char c) { return StrCat("'", c, "'"); }

  std::string Found(char c) const {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) return StrCat("found a control character (code ", int{byte}, ")");
    size_t length = 1;
    while (byte >= 0x80 && at_ + length < text_.size() &&
           (static_cast<unsigned char>(text_[at_ + length]) & 0xc0) == 0x80)
      ++length;
    return StrCat("found '", text_.substr(at_, length), "'");
  }

  // The wrong token: the first byte after the last good one that is neither space nor the one
  // separator that may stand there.
  void FindToken() {
    for (at_ = context_.after; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (IsSpace(c)) continue;
      if (separator_ != 0 || !MayFollow(c)) break;
      separator_ = c;
      separator_at_ = at_;
    }
  }

  bool MayFollow(char c) const {
    if (context_.container == 0 || AfterOpening()) return false;
    return c == (context_.after_key ? ':' : ',');
  }

  // The last good token was an opening bracket, so that no separator may follow.
  bool AfterOpening() const {
    return context_.container != 0 && context_.after == context_.container_begin + 1;
  }

  std::string Wanted() const {
    if (context_.container == 0)
      return context_.after == 0 ? "an object or a list" : "the end of the file";
    if (separator_ == ':') return "a value";
    if (context_.container == '[') {
      if (AfterOpening()) return "a value or ']'";
      return separator_ == ',' ? "a value" : "',' or ']'";
    }
    if (AfterOpening()) return "a key in double quotes or '}'";
    if (separator_ == ',') return "a key in double quotes";
    return context_.after_key ? "':'" : "',' or '}'";
  }

  Diagnostic AtEnd() {
    const size_t end = text_.size();
    if (Trim(text_).empty())
      return Say(0, 0, "the file is empty, expected an object or a list", "");
    if (context_.container == 0)
      return Say(end, 0, StrCat("the file ends, expected ", Wanted()), "");
    const char close = context_.container == '{' ? '}' : ']';
    return Say(end, 0,
               StrCat("the file ends, but the ", Quoted(context_.container), " of line ",
                      lines_.Line(context_.container_begin), ", column ",
                      lines_.Column(context_.container_begin), " is not closed"),
               StrCat("write ", Quoted(close)));
  }

  // A string that is wrong in itself, or a good one where none may stand.
  Diagnostic InString() {
    for (size_t i = at_ + 1; i < text_.size(); ++i) {
      const auto c = static_cast<unsigned char>(text_[i]);
      if (c == '"') return MissingSeparator(i + 1 - at_);
      if (c == '\n' || c == '\r')
        return Say(at_, i - at_, "a string that does not end on its line", "close it with '\"'");
      if (c < 0x20)
        return Say(i, 1, StrCat("a control character (code ", int{c}, ") in a string"),
                   c == '\t' ? "write \\t" : "write it as \\u00XX");
      if (c == '\\') {
        const size_t left = text_.size() - i;
        const char escape = left > 1 ? text_[i + 1] : '\0';
        constexpr std::string_view kEscapes = "\"\\/bfnrtu";
        const bool known = kEscapes.find(escape) != kEscapes.npos;
        if (!known || i + 2 >= context_.stop - 1 || (escape == 'u' && i + 6 > context_.stop - 1))
          return Say(i, std::min<size_t>(left, 2), "a backslash escape that JSON does not have",
                     "write \\\\ for a backslash, \\u and 4 hex digits for a character");
        ++i;
      } else if (c >= 0x80 && i + 1 >= context_.stop - 1 && context_.stop < text_.size()) {
        return Say(i, 1, "bytes in a string that are no UTF-8", "save the file as UTF-8");
      }
    }
    return Say(at_, text_.size() - at_, "a string that is not closed", "close it with '\"'");
  }

  Diagnostic MissingSeparator(size_t length) {
    if (context_.container != 0 && separator_ == 0 && !AfterOpening())
      return Say(at_, length, StrCat("found a string, expected ", Wanted()),
                 StrCat("write the missing ", context_.after_key ? "':'" : "','", " before it"));
    return Say(at_, length, StrCat("found a string, expected ", Wanted()), "");
  }

  size_t NumberLength() const {
    size_t end = at_;
    while (end < text_.size() &&
           (IsWord(text_[end]) || text_[end] == '.' || text_[end] == '-' || text_[end] == '+'))
      ++end;
    return std::max<size_t>(end - at_, 1);
  }

  Diagnostic AtWord() {
    const size_t length = NumberLength();
    const std::string_view word = text_.substr(at_, length);
    const bool key = context_.container == '{' && separator_ != ':';
    size_t next = at_ + length;
    while (next < text_.size() && IsSpace(text_[next])) ++next;
    if (key && next < text_.size() && text_[next] == ':')
      return Say(at_, length, StrCat("the key ", word, " has no quotes"),
                 StrCat("write \"", word, "\""));
    const std::string_view bare = word.substr(word[0] == '-' || word[0] == '+' ? 1 : 0);
    if (bare == "NaN" || bare == "nan" || bare == "Infinity" || bare == "inf" || bare == "Inf")
      return Say(at_, length, StrCat(word, " is no JSON number"),
                 "JSON has no NaN and no infinity; write a finite number");
    if (word == "True" || word == "False" || word == "None")
      return Say(
          at_, length, StrCat(word, " is Python, not JSON"),
          word == "None" ? "write null" : StrCat("write ", word == "True" ? "true" : "false"));
    if (!bare.empty() && bare[0] >= '0' && bare[0] <= '9' && ExpectsValue())
      return Say(at_, length, StrCat(word, " is no JSON number"),
                 "write it in decimal, without leading zeros and without '+'");
    if (ExpectsValue() && word.find_first_not_of('.') == word.npos)
      return Say(at_, length, StrCat("found ", word, ", expected ", Wanted()),
                 StrCat("write \"", word.size() > 1 ? "..." : word, "\" if it is a string"));
    if (bare.empty() || bare[0] == '.')
      return Say(at_, length, StrCat(word, " is no JSON number"), "write a digit before the point");
    if (ExpectsValue())
      return Say(at_, length, StrCat("found ", word, ", expected ", Wanted()),
                 StrCat("write \"", word, "\" if it is a string"));
    return Say(at_, length, StrCat("found ", word, ", expected ", Wanted()), "");
  }

  bool ExpectsValue() const {
    if (separator_ == ':') return true;
    return context_.container == '[' ? separator_ == ',' || AfterOpening()
                                     : context_.container == 0 && context_.after == 0;
  }

  Diagnostic Say(size_t at, size_t length, const std::string& message, std::string hint) {
    return {"MD002",
            Severity::kError,
            file_,
            lines_.Line(at),
            lines_.Column(at),
            lines_.Length(at, at + length),
            StrCat("not JSON: ", message),
            std::move(hint)};
  }

  std::string_view text_;
  const std::string& file_;
  const SyntaxContext& context_;
  LineIndex lines_;
  size_t at_ = 0;
  char separator_ = 0;
  size_t separator_at_ = 0;
};

}  // namespace

Diagnostic ExplainSyntaxError(std::string_view text, const std::string& file,
                              const SyntaxContext& context) {
  return Explainer(text, file, context).Run();
}

}  // namespace opwright::metadef

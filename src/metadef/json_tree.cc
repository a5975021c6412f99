// SPDX-License-Identifier: Apache-2.0
//
// The one file that includes nlohmann/json. Its SAX interface gives no places, so the parser reads
// through an iterator that counts: when an event arrives, exactly its token has been read (a number
// reads one byte more), and its start is the first byte after the previous token that is no
// separator.
#include "metadef/json_tree.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "metadef/syntax_error.h"

namespace opwright::metadef {
namespace {

class CountingIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  CountingIterator(const char* at, const char** furthest) : at_(at), furthest_(furthest) {}
  const char& operator*() const { return *at_; }
  CountingIterator& operator++() {
    *furthest_ = ++at_;
    return *this;
  }
  CountingIterator operator++(int) {
    CountingIterator old = *this;
    ++*this;
    return old;
  }
  bool operator==(const CountingIterator& other) const { return at_ == other.at_; }
  bool operator!=(const CountingIterator& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** furthest_;
};

bool IsSeparator(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == ',' || c == ':';
}

bool IsNumberByte(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  explicit TreeBuilder(std::string_view text) : text_(text), furthest_(text.data()) {}

  const char** furthest() { return &furthest_; }
  JsonValue& root() { return root_; }
  bool too_deep() const { return too_deep_; }
  bool too_many() const { return tokens_ > kMaxJsonTokens; }
  size_t token_begin() const { return last_begin_; }

  SyntaxContext Context() const {
    SyntaxContext context{last_end_, Read(), 0, 0, after_key_, number_overflow_};
    if (!open_.empty()) {
      context.container = open_.back()->is(JsonKind::kObject) ? '{' : '[';
      context.container_begin = open_.back()->begin;
    }
    return context;
  }

  bool null() override {
    Add(JsonKind::kNull);
    return true;
  }
  bool boolean(bool value) override {
    Add(JsonKind::kBool).boolean = value;
    return true;
  }
  bool number_integer(number_integer_t value) override { return AddInt(value, false); }
  bool number_unsigned(number_unsigned_t value) override {
    return AddInt(static_cast<int64_t>(value), value > static_cast<uint64_t>(INT64_MAX));
  }
  bool number_float(number_float_t value, const string_t& written) override {
    // Digits alone are an integer, one that not even uint64_t holds.
    const bool integer = written.find_first_of(".eE") == written.npos;
    JsonValue& added = Add(integer ? JsonKind::kInt : JsonKind::kFloat);
    added.number = value;
    added.out_of_range = integer;
    return true;
  }
  bool string(string_t& value) override {
    Add(JsonKind::kString).string = std::move(value);
    return true;
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return Open(JsonKind::kObject); }
  bool start_array(std::size_t) override { return Open(JsonKind::kList); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }
  bool key(string_t& name) override {
    Take();
    after_key_ = true;
    open_.back()->members.push_back({std::move(name), last_begin_, last_end_, {}});
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception& e) override {
    number_overflow_ = e.id == 406;
    return false;
  }

  size_t Read() const { return static_cast<size_t>(furthest_ - text_.data()); }

 private:
  void Take(bool number = false) {
    if (++tokens_ > kMaxJsonTokens) throw std::length_error("tokens");
    after_key_ = false;
    last_begin_ = last_end_;
    while (last_begin_ < text_.size() && IsSeparator(text_[last_begin_])) ++last_begin_;
    last_end_ = Read();
    const bool at_end = last_end_ == text_.size() && IsNumberByte(text_.back());
    if (number && !at_end) --last_end_;
  }

  JsonValue& Add(JsonKind kind) {
    Take(kind == JsonKind::kInt || kind == JsonKind::kFloat);
    JsonValue* slot = &root_;
    if (!open_.empty())
      slot = open_.back()->is(JsonKind::kObject) ? &open_.back()->members.back().value
                                                 : &open_.back()->items.emplace_back();
    slot->kind = kind;
    slot->begin = last_begin_;
    slot->end = last_end_;
    return *slot;
  }

  bool AddInt(int64_t value, bool out_of_range) {
    JsonValue& added = Add(JsonKind::kInt);
    added.integer = value;
    added.number = static_cast<double>(value);
    added.out_of_range = out_of_range;
    return true;
  }

  // A parent does not grow while a child is open, so the pointers stay good.
  bool Open(JsonKind kind) {
    JsonValue& added = Add(kind);
    too_deep_ = open_.size() >= kMaxJsonDepth;
    open_.push_back(&added);
    return !too_deep_;
  }

  bool Close() {
    Take();
    open_.back()->end = last_end_;
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const char* furthest_;
  JsonValue root_;
  std::vector<JsonValue*> open_;
  size_t tokens_ = 0;
  size_t last_begin_ = 0;
  size_t last_end_ = 0;
  bool too_deep_ = false;
  bool after_key_ = false;
  bool number_overflow_ = false;
};

Diagnostic Limit(std::string_view text, const std::string& file, size_t at, std::string message,
                 std::string hint) {
  const LineIndex lines(text.substr(0, std::min(text.size(), kMaxJsonBytes)));
  return {"MD003", Severity::kError,   file,           lines.Line(at), lines.Column(at),
          1,       std::move(message), std::move(hint)};
}

}  // namespace

const JsonValue* JsonValue::Find(std::string_view key) const {
  for (const JsonMember& member : members)
    if (member.key == key) return &member.value;
  return nullptr;
}

JsonValue ParseJson(std::string_view text, const std::string& file,
                    std::vector<Diagnostic>* errors) {
  if (text.size() > kMaxJsonBytes) {
    errors->push_back(
        Limit(text, file, 0,
              StrCat("the file has ", text.size(), " bytes, at most ", kMaxJsonBytes, " are read"),
              "a metadef is a few KiB; give the metadef alone"));
    return {};
  }
  TreeBuilder builder(text);
  // The byte order mark would be skipped without a word.
  const bool bom = text.starts_with("\xef\xbb\xbf");
  bool good = false;
  try {
    const char* begin = text.data();
    good = !bom && nlohmann::json::sax_parse(
                       CountingIterator(begin, builder.furthest()),
                       CountingIterator(begin + text.size(), builder.furthest()), &builder);
  } catch (const std::exception&) {
    good = false;
  }
  // The parser takes a zero byte for the end.
  const size_t zero = text.find('\0');
  if (good && zero == text.npos) return std::move(builder.root());
  if (zero < builder.Read() || (good && zero != text.npos)) {
    const LineIndex lines(text);
    errors->push_back({"MD002", Severity::kError, file, lines.Line(zero), lines.Column(zero), 1,
                       "not JSON: there is a zero byte", "remove it and what else is no text"});
  } else if (builder.too_deep()) {
    errors->push_back(
        Limit(text, file, builder.token_begin(),
              StrCat("lists and objects are nested deeper than ", kMaxJsonDepth, " levels"),
              "a metadef needs 5 levels"));
  } else if (builder.too_many()) {
    errors->push_back(Limit(text, file, builder.token_begin(),
                            StrCat("the file has more than ", kMaxJsonTokens, " keys and values"),
                            "give the metadef alone"));
  } else {
    errors->push_back(ExplainSyntaxError(text, file, builder.Context()));
  }
  return {};
}

size_t SourceOffset(std::string_view text, const JsonValue& string, size_t index) {
  size_t at = string.begin + 1;
  const size_t last = string.end - 1;
  for (size_t decoded = 0; at < last;) {
    size_t source = 1;
    size_t bytes = 1;
    if (text[at] == '\\') {
      source = 2;
      if (text[at + 1] == 'u') {
        source = 6;
        const int64_t code = std::stoll(std::string(text.substr(at + 2, 4)), nullptr, 16);
        bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : 3;
        if (code >= 0xd800 && code < 0xdc00) {  // the first of a pair
          source = 12;
          bytes = 4;
        }
      }
    }
    if (decoded + bytes > index) return at;
    decoded += bytes;
    at += source;
  }
  return last;
}

std::string Describe(const JsonValue& value) {
  switch (value.kind) {
    case JsonKind::kNull:
      return "null";
    case JsonKind::kBool:
      return value.boolean ? "true" : "false";
    case JsonKind::kInt:
      if (value.out_of_range) return "an integer that 64 bits do not hold";
      return StrCat("the integer ", value.integer);
    case JsonKind::kFloat:
      return StrCat("the number ", value.number);
    case JsonKind::kString: {
      if (value.string.size() <= 60) return StrCat("the string ", JsonQuote(value.string));
      return StrCat("a string of ", value.string.size(), " bytes");
    }
    case JsonKind::kList:
      return value.items.empty()       ? "an empty list"
             : value.items.size() == 1 ? std::string("a list of 1 entry")
                                       : StrCat("a list of ", value.items.size(), " entries");
    case JsonKind::kObject:
      break;
  }
  return "an object";
}

namespace {

constexpr size_t kStep = 256;

int CountPoints(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

}  // namespace

LineIndex::LineIndex(std::string_view text) : text_(text), starts_{0}, before_{0} {
  for (size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1))
    starts_.push_back(at + 1);
  for (size_t at = 0; at + kStep <= text.size(); at += kStep)
    before_.push_back(before_.back() + CountPoints(text.substr(at, kStep)));
}

int LineIndex::Before(size_t offset) const {
  offset = std::min(offset, text_.size());
  const size_t step = offset / kStep;
  return before_[step] + CountPoints(text_.substr(step * kStep, offset % kStep));
}

int LineIndex::Line(size_t offset) const {
  return static_cast<int>(std::upper_bound(starts_.begin(), starts_.end(), offset) -
                          starts_.begin());
}

int LineIndex::Column(size_t offset) const {
  return Length(starts_[static_cast<size_t>(Line(offset)) - 1], offset) + 1;
}

int LineIndex::Length(size_t begin, size_t end) const { return Before(end) - Before(begin); }

}  // namespace opwright::metadef

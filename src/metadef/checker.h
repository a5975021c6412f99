// SPDX-License-Identifier: Apache-2.0
//
// Collects the problems of one file while its tree is walked.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "metadef/json_tree.h"
#include "metadef/metadef.h"

namespace opwright::metadef {

class Checker {
 public:
  Checker(std::string_view text, std::string file);

  void Error(std::string_view id, const JsonValue& at, std::string message, std::string hint = "");
  void Error(std::string_view id, size_t begin, size_t end, std::string message,
             std::string hint = "");
  void Warning(std::string_view id, size_t begin, size_t end, std::string message,
               std::string hint = "");
  // At bytes [begin, end) of a string's value.
  void ErrorInString(std::string_view id, const JsonValue& string, size_t begin, size_t end,
                     std::string message, std::string hint);

  // Whether the next problem may have a hint that names what is near or known: each costs a look at
  // all names, so the first hundred of a file have one.
  bool TakeHint() { return hints_++ < kMostHints; }
  bool HasHint() const { return hints_ < kMostHints; }

  int errors() const { return errors_; }
  Span SpanOf(const JsonValue& value) const { return SpanOf(value.begin, value.end); }
  Span SpanOf(size_t begin, size_t end) const;
  // "line 3, column 5"
  std::string Place(size_t offset) const;
  std::string_view text() const { return text_; }
  const std::string& file() const { return file_; }

  // What was reported, in the order of the file.
  std::vector<Diagnostic> Take();

 private:
  static constexpr int kMostHints = 100;

  void Add(Severity severity, std::string_view id, size_t begin, size_t end, std::string message,
           std::string hint);

  std::string_view text_;
  std::string file_;
  LineIndex lines_;
  std::vector<std::pair<size_t, Diagnostic>> found_;
  int errors_ = 0;
  int hints_ = 0;
};

}  // namespace opwright::metadef

// SPDX-License-Identifier: Apache-2.0
//
// What goes wrong, and how a function says so: Diagnostic for a place in a user's file, Error with
// a stable id, Status and Expected<T> to return them. Nothing here throws.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace opwright {

enum class Severity { kNote, kWarning, kError };

// "note", "warning" or "error"
const char* SeverityName(Severity severity);

// One remark on one place. Lines and columns count from 1, columns in code points; 0: no place.
struct Diagnostic {
  std::string id;
  Severity severity = Severity::kError;
  std::string file;
  int line = 0;
  int column = 0;
  int length = 0;  // code points
  std::string message;  // what was found, what was expected
  std::string hint;  // what to write or do; may be empty
};

// "FILE:LINE:COL: error: message, hint [MD012]", the parts that are there.
std::string Render(const Diagnostic& diagnostic);

// As a JSON object: file, line, column, length, severity by its name, id, message, hint.
std::string DiagnosticJson(const Diagnostic& diagnostic);

// The failure of one operation. The id is a row of the tables in src/base/ids.
struct Error {
  std::string id;
  std::string message;
  std::vector<Diagnostic> diagnostics;

  // All out of line: hundreds of places make one and return it.
  Error();
  Error(std::string id, std::string message, std::vector<Diagnostic> diagnostics = {});
  Error(const Error& other);
  Error(Error&& other) noexcept;
  Error& operator=(const Error& other);
  Error& operator=(Error&& other) noexcept;
  ~Error();

  // The message and the id, then each diagnostic on a line of its own.
  std::string Text() const;
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error);  // NOLINT
  bool ok() const { return error_ == nullptr; }
  const Error& error() const { return *error_; }
  Error TakeError() { return std::move(*error_); }

 private:
  std::unique_ptr<Error> error_;
};

template <class T>
class [[nodiscard]] Expected {
 public:
  Expected(T value) : state_(std::move(value)) {}  // NOLINT
  Expected(Error error) : state_(std::move(error)) {}  // NOLINT
  bool ok() const { return state_.index() == 0; }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  const Error& error() const { return std::get<1>(state_); }
  Error TakeError() { return std::move(std::get<1>(state_)); }

 private:
  std::variant<T, Error> state_;
};

Error MakeError(std::string_view id, std::string message);

inline Error WithId(Error error, std::string_view id) {
  error.id = id;
  return error;
}

// Returns the error of a Status or Expected from the function.
#define OPWRIGHT_RETURN_IF_ERROR(expression)                                    \
  do {                                                                          \
    if (auto status_ = (expression); !status_.ok()) return status_.TakeError(); \
  } while (false)

}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
//
// What opwright check found: a report, and its rendering as text and as JSON.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace opwright::check {

enum class Verdict { kRight, kWrong, kUndecided };

// Two values that should be equal, the worst pair of all that were compared.
struct Difference {
  double error = 0;
  double tolerance = 0;
  double got = 0;
  double expected = 0;
  std::string index;  // "[1, 2]"
};

struct Finding {
  std::string id;  // a row of src/base/ids/ck.def
  Severity severity = Severity::kError;
  std::string argument;  // "output y", "gradient of x"; empty: the call as a whole
  std::string case_text;  // the first case that shows it: shapes, dtypes, values
  int64_t cases = 1;  // how many cases show it
  std::string message;
  std::string kind;  // the likely mistake; may be empty
  bool has_difference = false;
  Difference difference;
};

// Of no argument and no case yet.
Finding Warning(std::string id, std::string message);

// One for each input of an operator with a gradient, and for each tensor of a dynamic one.
struct GradientRow {
  std::string input;
  bool checked = false;
  bool right = true;
  std::string reason;  // why it was not checked
  int64_t cases = 0;
  int64_t elements = 0;  // compared with differences
  int64_t skipped = 0;  // not differentiable there, or not finite
  int64_t sampled = 0;  // elements that were compared of the largest input; 0: always all
  int64_t sampled_of = 0;
  Difference worst;  // by error / tolerance
  std::string case_text;  // of the worst
  std::string dtype;  // in which the differences were taken
  std::string kind;

  double left_out_share() const {
    return skipped > 0 ? static_cast<double>(skipped) / static_cast<double>(elements + skipped) : 0;
  }
};

struct OperatorReport {
  std::string name;
  Verdict verdict = Verdict::kRight;
  std::string note;  // "forward only: no gradient"
  std::string backward;  // the backward operator's name
  int64_t cases_run = 0;
  int64_t cases_refused = 0;
  std::vector<std::string> refusals;  // the distinct reasons
  std::vector<GradientRow> rows;
  std::vector<Finding> findings;
};

struct Report {
  std::string path;
  uint64_t seed = 0;
  std::vector<OperatorReport> operators;
  std::vector<Finding> findings;  // of the library as a whole: nothing else was looked at
  std::vector<Diagnostic> warnings;  // of the build, where a folder was given

  Verdict verdict() const;  // wrong before undecided before right
};

const char* VerdictName(Verdict verdict);
std::string RenderText(const Report& report);
std::string RenderJson(const Report& report);
// Where there is no report: the error of CheckLibrary.
std::string RenderJson(const std::string& path, uint64_t seed, const Error& error);

}  // namespace opwright::check

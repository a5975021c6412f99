// SPDX-License-Identifier: Apache-2.0
//
// opwright check: whether a library's operators keep their contract and their gradients are right,
// found out by running them in child processes between guard pages, before any training step.
//
//   Expected<check::Report> report = check::CheckLibrary("fused_add_scale", {});
//   if (report.ok()) fputs(check::RenderText(*report).c_str(), stdout);
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/error.h"

namespace opwright {
class Library;
class Operator;
}  // namespace opwright

namespace opwright::check {

struct Options {
  uint64_t seed = 1;
  std::string op;  // the only operator to check; empty: all
  double timeout_seconds = 60;  // of one case
};

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

  Verdict verdict() const;  // wrong before undecided before right
};

// A folder is built first. The error is that of the build, of the load, or LD013.
Expected<Report> CheckLibrary(const std::string& path, const Options& options);
Expected<Report> CheckLibrary(const Library& library, const Options& options);

// The operator and, through it, its backward operator.
OperatorReport CheckOperator(Operator& op, const Options& options);

const char* VerdictName(Verdict verdict);
std::string RenderText(const Report& report);
std::string RenderJson(const Report& report);

}  // namespace opwright::check

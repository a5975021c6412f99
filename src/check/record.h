// SPDX-License-Identifier: Apache-2.0
//
// What a child tells its parent, in memory that both see. It is right up to the moment of a crash.
#pragma once

#include <string>

#include "base/error.h"
#include "check/array.h"
#include "check/attrs.h"
#include "check/child.h"
#include "check/report.h"

namespace opwright::check {

struct DifferenceRecord {
  double error;
  double tolerance;
  double got;
  double expected;
  Text<96> index;
};

struct FindingRecord {
  Text<8> id;
  int32_t severity;
  Text<96> argument;
  Text<1024> message;
  Text<256> kind;
  int32_t has_difference;
  DifferenceRecord difference;
};

struct RowRecord {
  int32_t used;
  int32_t right;
  Text<256> reason;  // why nothing was compared
  int64_t elements;
  int64_t skipped;
  int64_t sampled;  // elements that were compared of so many; 0: all
  int64_t sampled_of;
  DifferenceRecord worst;
  Text<256> kind;
};

// Of one case in one dtype column.
struct CaseRecord {
  static constexpr int kFindings = 24;
  static constexpr int kRows = 64;

  ChildState state;
  int32_t refused;  // by the metadef's rules or by the kernel; nothing was judged
  Text<512> refusal;
  Text<256> second_values;  // of attributes, that the operator was tried with
  SecondValues second;  // the same
  uint64_t refused_first;  // bit i: the kernel refused the first value of attribute i
  uint64_t refused_second;
  Values values;  // that it was tried with: it may have refused those of the case
  Text<72> results;  // a hash of what the case gave; "" where calls that are alike differ
  int32_t empty;  // no output has an element: no kernel was called
  int32_t num_findings;
  FindingRecord findings[kFindings];
  RowRecord rows[kRows];  // in the order of RowsOf
};

// Writes findings; the same id for the same argument is written once.
class Recorder {
 public:
  explicit Recorder(CaseRecord* record) : record_(*record) {}

  void Stage(const std::string& what) { record_.state.stage = what.c_str(); }
  void Refuse(const std::string& why);
  void Add(const char* id, Severity severity, const std::string& argument,
           const std::string& message, const std::string& kind = "",
           const Difference* difference = nullptr);
  bool Has(const char* id) const;
  void SetTried(Values values, const SecondValues& second, const std::string& text) {
    record_.values = values;
    record_.second = second;
    record_.second_values = text.c_str();
  }
  void RefuseAttrs(const SecondValues& second) {
    record_.refused_first |= ~second.which;
    record_.refused_second |= second.which;
  }
  void SetResults(const std::string& hash) { record_.results = hash.c_str(); }
  void SetEmpty(bool empty) { record_.empty = empty ? 1 : 0; }
  RowRecord* Row(int32_t index) {
    return index < CaseRecord::kRows ? &record_.rows[index] : nullptr;
  }

 private:
  CaseRecord& record_;
};

// Whether a, of a gradient that is wrong, says more than b: its error is larger, and what is right
// is not zero, of which nobody sees by what an element is off.
bool SaysMore(const Difference& a, const Difference& b);

DifferenceRecord ToRecord(const Difference& difference);
Difference FromRecord(const DifferenceRecord& record);

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
#include "check/record.h"

#include <cstring>

namespace opwright::check {

void Recorder::Refuse(const std::string& why) {
  record_.refused = 1;
  record_.refusal = why.c_str();
}

bool Recorder::Has(const char* id) const {
  for (int32_t k = 0; k < record_.num_findings; ++k)
    if (strcmp(record_.findings[k].id.chars, id) == 0) return true;
  return false;
}

void Recorder::Add(const char* id, Severity severity, const std::string& argument,
                   const std::string& message, const std::string& kind,
                   const Difference* difference) {
  for (int32_t k = 0; k < record_.num_findings; ++k) {
    const FindingRecord& other = record_.findings[k];
    if (strcmp(other.id.chars, id) == 0 && argument == other.argument.chars) return;
  }
  if (record_.num_findings == CaseRecord::kFindings) return;
  FindingRecord& finding = record_.findings[record_.num_findings];
  finding.id = id;
  finding.severity = static_cast<int32_t>(severity);
  finding.argument = argument.c_str();
  finding.message = message.c_str();
  finding.kind = kind.c_str();
  finding.has_difference = difference != nullptr;
  if (difference != nullptr) finding.difference = ToRecord(*difference);
  ++record_.num_findings;
}

bool SaysMore(const Difference& a, const Difference& b) {
  // Of none the tolerance is zero.
  const auto share = [](const Difference& d) {
    return d.tolerance > 0 ? d.error / d.tolerance : -1;
  };
  const auto rank = [&](const Difference& d) {
    return std::pair(share(d) > 1 && d.expected != 0, share(d));
  };
  return rank(a) > rank(b);
}

DifferenceRecord ToRecord(const Difference& difference) {
  DifferenceRecord record = {
      difference.error, difference.tolerance, difference.got, difference.expected, {}};
  record.index = difference.index.c_str();
  return record;
}

Difference FromRecord(const DifferenceRecord& record) {
  return {record.error, record.tolerance, record.got, record.expected, record.index.chars};
}

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// Which values of attributes the cases of an operator met: with outputs that have elements, and,
// where gradients are compared, with a gradient of several elements. Others prove nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "check/cases.h"
#include "check/record.h"
#include "check/report.h"

namespace opwright::check {

// An attribute and one of its two values.
struct AttrValue {
  int32_t attr = 0;
  bool second = false;

  uint64_t bit() const { return uint64_t{1} << attr; }
};

class AttrCoverage {
 public:
  // Of a case that came to its end.
  void Take(const CaseRecord& record, const Case& c);
  // In several cases, of which one may be of a shape that the value does not matter to.
  bool IsMetOften(const AttrValue& value) const { return Times(value) >= kOften; }
  // At most those that are often, where nothing is compared.
  int Times(const AttrValue& value) const;
  // All that are not.
  std::vector<AttrValue> Missing(const OpwrightOpDef& def) const;
  // Whether no case met the default of one of them, which is its first value.
  bool IsDefaultUnmet(const OpwrightOpDef& def) const;
  // A warning for each that no case met.
  std::vector<Finding> Unmet(const OpwrightOpDef& def) const;

 private:
  // Bit i: attribute i has its first value, or its second one.
  struct Met {
    uint64_t first = 0;
    uint64_t second = 0;

    void Add(uint64_t which) {
      first |= ~which;
      second |= which;
    }
    bool Has(const AttrValue& value) const {
      return ((value.second ? second : first) & value.bit()) != 0;
    }
  };
  static constexpr int kOften = 6;
  std::string WhyUnmet(const AttrValue& value, const std::string& text) const;

  Met with_elements_;
  std::map<std::pair<int32_t, bool>, int> compared_;  // with differences, in so many cases
  Met refused_;  // by the kernel
};

}  // namespace opwright::check

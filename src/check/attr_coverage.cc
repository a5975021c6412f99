// SPDX-License-Identifier: Apache-2.0
#include "check/attr_coverage.h"

#include <algorithm>

#include "base/text.h"
#include "check/attrs.h"
#include "runtime/attrs.h"

namespace opwright::check {

void AttrCoverage::Take(const CaseRecord& record, const Case& c) {
  refused_.first |= record.refused_first;
  refused_.second |= record.refused_second;
  if (record.refused != 0 || record.empty != 0 || c.long_axis) return;
  with_elements_.Add(record.second.which);
  const bool compared = std::any_of(record.rows, record.rows + CaseRecord::kRows,
                                    [](const RowRecord& row) { return row.elements > 0; });
  if (!compared || c.slight) return;
  for (int32_t i = 0; i < 64; ++i) ++compared_[{i, (record.second.which >> i & 1) != 0}];
}

int AttrCoverage::Times(const AttrValue& value) const {
  if (compared_.empty()) return with_elements_.Has(value) ? kOften : 0;
  const auto found = compared_.find({value.attr, value.second});
  return found == compared_.end() ? 0 : found->second;
}

std::vector<AttrValue> AttrCoverage::Missing(const OpwrightOpDef& def) const {
  std::vector<AttrValue> missing;
  for (const int32_t i : AttrsWithSecond(def))
    for (const bool second : {false, true})
      if (!IsMetOften({i, second})) missing.push_back({i, second});
  return missing;
}

bool AttrCoverage::IsDefaultUnmet(const OpwrightOpDef& def) const {
  const std::vector<AttrValue> missing = Missing(def);
  return std::any_of(missing.begin(), missing.end(), [&](const AttrValue& value) {
    return !value.second && def.attrs[value.attr]->required == 0 && Times(value) == 0;
  });
}

std::string AttrCoverage::WhyUnmet(const AttrValue& value, const std::string& text) const {
  if (with_elements_.Has(value))
    return StrCat("no gradient was compared with ", text,
                  " in a case of several elements: it may be wrong for this value");
  if (refused_.Has(value))
    return StrCat("each call with ", text, " that had an output with elements was refused: ",
                  "nothing is known of this value");
  return StrCat("no call with ", text,
                " had an output with elements: nothing is known of this value");
}

std::vector<Finding> AttrCoverage::Unmet(const OpwrightOpDef& def) const {
  std::vector<Finding> findings;
  for (const AttrValue& value : Missing(def)) {
    if (Times(value) > 0) continue;
    const std::vector<OpwrightAttr> attrs = MakeAttrs(def, {value.second ? value.bit() : 0});
    const std::string text =
        StrCat(def.attrs[value.attr]->name, "=", AttrText(attrs[static_cast<size_t>(value.attr)]));
    findings.push_back(Warning("CK024", WhyUnmet(value, text)));
    findings.back().argument = StrCat("attribute ", text);
  }
  return findings;
}

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
#include "metadef/gradient_field.h"

#include <string>
#include <vector>

#include "base/text.h"
#include "metadef/field_checks.h"
#include "metadef/fields.h"

namespace opwright::metadef {
namespace {

std::vector<std::string> Strings(const JsonValue* list) {
  std::vector<std::string> strings;
  if (list != nullptr)
    for (const JsonValue& item : list->items) strings.push_back(item.string);
  return strings;
}

}  // namespace

void ReadGradient(Checker& checker, const JsonValue& value, const std::string& path, Operator* op) {
  GradientSpec& spec = op->gradient;
  spec.span =
      checker.SpanOf(value.begin, value.is(JsonKind::kString) ? value.end : value.begin + 1);
  if (value.is(JsonKind::kString)) {
    if (value.string == "none") return;
    if (value.string == "auto") {
      spec.kind = GradientSpec::Kind::kAuto;
      return;
    }
    if (!CheckName(checker, FieldKind::kOpName, value, path)) return;
    spec.kind = GradientSpec::Kind::kOperator;
    spec.op = value.string;
    return;
  }
  const ObjectFields fields = CheckObject(checker, ObjectKind::kGradient, value, StrCat(path, "."));
  if (fields["op"] == nullptr || fields["inputs"] == nullptr || fields["outputs"] == nullptr)
    return;
  spec.kind = GradientSpec::Kind::kOperator;
  spec.long_form = true;
  spec.op = fields["op"]->string;
  spec.inputs = Strings(fields["inputs"]);
  spec.outputs = Strings(fields["outputs"]);
}

}  // namespace opwright::metadef

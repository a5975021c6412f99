// SPDX-License-Identifier: Apache-2.0
//
// The checks of one object against the table of fields.
#include <unordered_map>

#include "base/text.h"
#include "metadef/field_checks.h"
#include "metadef/fields.h"

namespace opwright::metadef {
namespace {

bool CheckObjects(Checker& checker, const JsonValue& value, const std::string& path) {
  if (!value.is(JsonKind::kList))
    return WrongType(checker, value, path, "a list of objects",
                     value.is(JsonKind::kObject) ? "put it in [ ]" : "");
  bool good = true;
  for (size_t i = 0; i < value.items.size(); ++i)
    if (!value.items[i].is(JsonKind::kObject))
      good = WrongType(checker, value.items[i], StrCat(path, "[", i, "]"), "an object",
                       value.items[i].is(JsonKind::kString)
                           ? StrCat("write {\"name\": ", JsonQuote(value.items[i].string), ", ...}")
                           : "");
  return good;
}

bool CheckField(Checker& checker, const Field& field, const JsonValue& value,
                const std::string& path) {
  switch (field.kind) {
    case FieldKind::kOpName:
    case FieldKind::kName:
    case FieldKind::kNamespace:
      return CheckName(checker, field.kind, value, path);
    case FieldKind::kChoice:
      return CheckChoice(checker, field.choices, value, path);
    case FieldKind::kBool:
      if (value.is(JsonKind::kBool)) return true;
      return WrongType(checker, value, path, "true or false");
    case FieldKind::kParams:
    case FieldKind::kAttrs:
      return CheckObjects(checker, value, path);
    case FieldKind::kDTypes:
      return CheckDTypes(checker, value, path);
    case FieldKind::kFormats:
      return CheckFormats(checker, value, path);
    case FieldKind::kShape:
      return CheckShape(checker, value, path);
    case FieldKind::kShapeRule:
      if (value.is(JsonKind::kString) || value.is(JsonKind::kList) || value.is(JsonKind::kObject))
        return true;
      return WrongType(checker, value, path,
                       "a rule in a string, a list of dimensions or an object",
                       "write \"same(x)\", \"broadcast(x, y)\", \"kernel\" or [\"n\", \"2*m\"]");
    case FieldKind::kGradient:
      if (value.is(JsonKind::kString) || value.is(JsonKind::kObject)) return true;
      return WrongType(checker, value, path, "a string or an object",
                       "write \"none\", \"auto\" or the name of the backward operator");
    case FieldKind::kNames:
      return CheckStringList(checker, value, path);
    case FieldKind::kDefault:
      break;
  }
  return true;
}

void CheckUnknown(Checker& checker, const JsonMember& member, std::span<const Field> fields,
                  const std::string& path) {
  std::vector<std::string> names;
  for (const Field& field : fields) names.emplace_back(field.name);
  const std::string nearest = Nearest(member.key, names);
  checker.Warning(
      "MD005", member.key_begin, member.key_end,
      StrCat(path.empty() ? "" : path.substr(0, path.size() - 1) + ": ", "the field ",
             JsonQuote(member.key), " is not known and says nothing"),
      nearest.empty() ? StrCat("known are ", JoinAnd(names)) : StrCat("write \"", nearest, "\""));
}

}  // namespace

ObjectFields CheckObject(Checker& checker, ObjectKind kind, const JsonValue& object,
                         const std::string& path) {
  ObjectFields result;
  result.fields = FieldsOf(kind);
  result.values.resize(result.fields.size());
  result.present.resize(result.fields.size());
  std::unordered_map<std::string_view, const JsonMember*> seen;
  for (const JsonMember& member : object.members) {
    const auto [first, added] = seen.emplace(member.key, &member);
    if (!added) {
      checker.Error(
          "MD004", member.key_begin, member.key_end,
          StrCat("the key ", JsonQuote(member.key), " stands twice in one object, first at ",
                 checker.Place(first->second->key_begin)),
          "remove one of them");
      continue;
    }
    size_t index = 0;
    while (index < result.fields.size() && result.fields[index].name != member.key) ++index;
    if (index == result.fields.size()) {
      CheckUnknown(checker, member, result.fields, path);
      continue;
    }
    result.present[index] = true;
    const Field& field = result.fields[index];
    if (CheckField(checker, field, member.value, StrCat(path, field.name)))
      result.values[index] = &member.value;
  }
  for (size_t i = 0; i < result.fields.size(); ++i) {
    if (!result.fields[i].required || result.present[i]) continue;
    checker.Error("MD006", object,
                  StrCat(path.empty() ? "the operator" : path.substr(0, path.size() - 1),
                         " has no field \"", result.fields[i].name, "\", which it needs"),
                  StrCat("write \"", result.fields[i].name, "\": ..."));
  }
  return result;
}

}  // namespace opwright::metadef

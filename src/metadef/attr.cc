// SPDX-License-Identifier: Apache-2.0
#include "metadef/attr.h"

#include "base/text.h"
#include "metadef/field_checks.h"
#include "metadef/fields.h"

namespace opwright::metadef {
namespace {

class DefaultReader {
 public:
  DefaultReader(Checker& checker, const Attr& attr, const std::string& path)
      : checker_(checker), attr_(attr), path_(path) {}

  AttrValue Read(const JsonValue& value) {
    AttrValue read;
    switch (attr_.type) {
      case AttrType::kInt:
        read.i = Int(value);
        break;
      case AttrType::kFloat:
        read.f = Float(value);
        break;
      case AttrType::kString:
        read.s = String(value);
        break;
      case AttrType::kBool:
        read.i = Bool(value);
        break;
      case AttrType::kType:
        read.s = Type(value);
        break;
      case AttrType::kListInt:
        for (const JsonValue& item : List(value)) read.ints.push_back(Int(item));
        break;
      case AttrType::kListFloat:
        for (const JsonValue& item : List(value)) read.floats.push_back(Float(item));
        break;
      case AttrType::kListString:
        for (const JsonValue& item : List(value)) read.strings.push_back(String(item));
        break;
      case AttrType::kListBool:
        for (const JsonValue& item : List(value)) read.ints.push_back(Bool(item));
        break;
      case AttrType::kListListInt:
        for (const JsonValue& item : List(value)) {
          read.int_lists.emplace_back();
          for (const JsonValue& inner : List(item)) read.int_lists.back().push_back(Int(inner));
        }
        break;
    }
    return read;
  }

 private:
  void Wrong(const JsonValue& found, std::string_view id = "MD025") {
    if (reported_) return;
    reported_ = true;  // the first wrong entry of a list speaks for all
    std::string_view example;
    for (const AttrTypeRow& row : AttrTypeRows())
      if (row.type == attr_.type) example = row.example;
    std::string message =
        StrCat(path_, ": the attribute ", attr_.name, " has the type ", AttrTypeText(attr_.type));
    if (id == "MD026") {
      message += StrCat(", its default has ", Describe(found));
    } else {
      message += StrCat(", its default ", InList() && !found.is(JsonKind::kList) ? "has " : "is ",
                        Describe(found));
    }
    checker_.Error(id, found, std::move(message), StrCat("write a value like ", example));
  }

  bool InList() const {
    return attr_.type >= AttrType::kListInt && attr_.type <= AttrType::kListListInt;
  }

  const std::vector<JsonValue>& List(const JsonValue& value) {
    static const std::vector<JsonValue>& none = *new std::vector<JsonValue>;
    if (value.is(JsonKind::kList)) return value.items;
    Wrong(value);
    return none;
  }

  int64_t Int(const JsonValue& value) {
    if (!value.is(JsonKind::kInt)) Wrong(value);
    if (value.out_of_range) Wrong(value, "MD026");
    return value.integer;
  }

  double Float(const JsonValue& value) {
    if (!value.is(JsonKind::kInt) && !value.is(JsonKind::kFloat)) Wrong(value);
    return value.number;
  }

  bool Bool(const JsonValue& value) {
    if (!value.is(JsonKind::kBool)) Wrong(value);
    return value.boolean;
  }

  // These are C strings in the C interface.
  std::string String(const JsonValue& value) {
    if (!value.is(JsonKind::kString)) Wrong(value);
    if (value.string.find('\0') != value.string.npos && !reported_) {
      reported_ = true;
      checker_.Error("MD026", value,
                     StrCat(path_, InList() ? ": a string in the default of " : ": the default of ",
                            attr_.name, " has a zero character, which ends a string"),
                     "remove it");
    }
    return value.string;
  }

  std::string Type(const JsonValue& value) {
    if (!value.is(JsonKind::kString)) {
      Wrong(value);
      return "";
    }
    std::string name = CanonicalDType(value.string);
    if (name.empty()) {
      std::vector<std::string_view> names;
      for (const DTypeSpelling& row : DTypeSpellings()) names.push_back(row.written);
      checker_.Error("MD015", value,
                     StrCat(path_, ": ", JsonQuote(value.string), ", the default of ", attr_.name,
                            ", is no dtype"),
                     SuggestName(value.string, names));
    }
    return name;
  }

  Checker& checker_;
  const Attr& attr_;
  const std::string& path_;
  bool reported_ = false;
};

AttrType TypeFromText(std::string_view text) {
  for (const AttrTypeRow& row : AttrTypeRows())
    if (AttrTypeText(row.type) == text) return row.type;
  return AttrType::kInt;
}

void ReadAttr(Checker& checker, const JsonValue& object, const std::string& path, Operator* op) {
  const ObjectFields fields = CheckObject(checker, ObjectKind::kAttr, object, StrCat(path, "."));
  Attr attr;
  attr.span = checker.SpanOf(object);
  const JsonValue* type = fields["type"];
  const JsonValue* param_type = fields["param_type"];
  const JsonValue* value = fields["default_value"];
  if (const JsonValue* written = object.Find("name")) attr.name = written->string;
  if (type != nullptr) attr.type = TypeFromText(type->string);
  const bool said = object.Find("param_type") != nullptr;
  attr.required =
      param_type != nullptr ? param_type->string == "required" : !said && value == nullptr;
  if (param_type != nullptr && attr.required && value != nullptr)
    checker.Error("MD024", *value,
                  StrCat(path, ": the attribute ", attr.name, " is required and has a default"),
                  "write \"param_type\": \"optional\", or remove the default_value");
  if (param_type != nullptr && !attr.required && value == nullptr)
    checker.Error("MD023", object,
                  StrCat(path, ": the attribute ", attr.name, " is optional and has no default"),
                  "write \"default_value\": ..., or \"param_type\": \"required\"");
  if (value != nullptr && type != nullptr)
    attr.default_value = DefaultReader(checker, attr, path).Read(*value);
  op->attrs.push_back(std::move(attr));
}

}  // namespace

void ReadAttrs(Checker& checker, const JsonValue& list, const std::string& path, Operator* op) {
  for (size_t i = 0; i < list.items.size(); ++i)
    ReadAttr(checker, list.items[i], StrCat(path, "[", i, "]"), op);
}

}  // namespace opwright::metadef

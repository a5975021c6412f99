// SPDX-License-Identifier: Apache-2.0
//
// The one table of what may stand in a metadef: the checks of names, types and choices read it, and
// so does the JSON Schema. Rules between fields are not here, they lie beside the field that they
// are about.
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/spelling.h"
#include "metadef/checker.h"
#include "metadef/json_tree.h"

namespace opwright::metadef {

enum class FieldKind {
  kOpName,  // snake name, neither keyword nor library function
  kName,  // snake name of an input, output or attribute
  kNamespace,  // snake name, not one of torch's
  kChoice,  // one of Field::choices
  kBool,
  kParams,  // list of objects (ObjectKind::kParam)
  kAttrs,  // list of objects (ObjectKind::kAttr)
  kDTypes,  // list of at least one dtype
  kFormats,  // list of at least one format
  kShape,
  kShapeRule,  // string, list of dimensions, or an object of them
  kGradient,  // "none", "auto", an operator's name or an object (ObjectKind::kGradient)
  kNames,  // list of strings
  kDefault,  // the type follows from the attribute's type
};

struct Field {
  std::string_view name;
  FieldKind kind;
  bool required;
  std::span<const std::string_view> choices;
  std::string_view description;
};

enum class ObjectKind { kOperator, kParam, kAttr, kGradient };

std::span<const Field> FieldsOf(ObjectKind kind);

// What is written for a dtype, and the dtype that it stands for.
struct DTypeSpelling {
  std::string_view written;
  std::string_view canonical;
};
std::span<const DTypeSpelling> DTypeSpellings();
std::span<const std::string_view> FormatNames();

// How the attribute types are written, with the kind of their values.
struct AttrTypeRow {
  AttrType type;
  std::string_view example;
};
std::span<const AttrTypeRow> AttrTypeRows();
constexpr std::string_view AttrTypeText(AttrType type) {
  return AttrTypeName(static_cast<int32_t>(type));
}

// The values of an object's fields, in the order of the table; null: absent or of the wrong type.
class ObjectFields {
 public:
  const JsonValue* operator[](std::string_view name) const;

  std::span<const Field> fields;
  std::vector<const JsonValue*> values;
  std::vector<bool> present;
};

// Reports repeated, unknown, missing and wrongly typed fields. path: "" or "input_desc[0].".
ObjectFields CheckObject(Checker& checker, ObjectKind kind, const JsonValue& object,
                         const std::string& path);

// A hint: write "NEAREST", "known are ..." when none is near and they are few, or "".
std::string SuggestName(std::string_view word, std::span<const std::string_view> names);

}  // namespace opwright::metadef

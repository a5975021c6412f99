// SPDX-License-Identifier: Apache-2.0
//
// The JSON Schema of a metadef, from the table of fields. It says what JSON Schema can say; rules
// between fields (columns, names, shape rules, bindings) are the checks' alone.
#include "base/text.h"
#include "metadef/fields.h"
#include "metadef/metadef.h"
#include "metadef/reserved.h"

namespace opwright::metadef {
namespace {

constexpr std::string_view kMaxInt = "9223372036854775807";
constexpr std::string_view kMinInt = "-9223372036854775808";

std::string List(std::span<const std::string_view> names) {
  std::string list = "[";
  for (size_t i = 0; i < names.size(); ++i) list += StrCat(i > 0 ? "," : "", JsonQuote(names[i]));
  return list + "]";
}

std::string Ref(std::string_view name) { return StrCat("{\"$ref\":\"#/$defs/", name, "\"}"); }

std::string Integer(std::string_view least) {
  return StrCat("{\"type\":\"integer\",\"minimum\":", least, ",\"maximum\":", kMaxInt, "}");
}

std::string ListOf(std::string_view items) {
  return StrCat("{\"type\":\"array\",\"items\":", items, "}");
}

std::string SnakeName(std::initializer_list<std::span<const std::string_view>> refused) {
  std::vector<std::string_view> words;
  for (const auto& table : refused) words.insert(words.end(), table.begin(), table.end());
  return StrCat("{\"type\":\"string\",\"pattern\":\"^[a-z][a-z0-9_]{0,", kMaxNameLength - 1,
                "}$\",\"not\":{\"enum\":", List(words), "}}");
}

// The schema of one kind of field.
std::string KindSchema(const Field& field) {
  switch (field.kind) {
    case FieldKind::kOpName:
      return Ref("op_name");
    case FieldKind::kName:
      return Ref("name");
    case FieldKind::kNamespace:
      return Ref("namespace");
    case FieldKind::kChoice:
      return StrCat("{\"enum\":", List(field.choices), "}");
    case FieldKind::kBool:
      return "{\"type\":\"boolean\"}";
    case FieldKind::kParams:
      return StrCat("{\"type\":\"array\",\"items\":", Ref("param"),
                    field.name == "output_desc" ? ",\"minItems\":1}" : "}");
    case FieldKind::kAttrs:
      return ListOf(Ref("attr"));
    case FieldKind::kDTypes:
      return StrCat("{\"type\":\"array\",\"minItems\":1,\"items\":", Ref("dtype"), "}");
    case FieldKind::kFormats:
      return StrCat("{\"type\":\"array\",\"minItems\":1,\"items\":", Ref("format"), "}");
    case FieldKind::kShape:
      return Ref("shape");
    case FieldKind::kShapeRule:
      return StrCat("{\"anyOf\":[", Ref("rule"),
                    ",{\"type\":\"object\",\"additionalProperties\":", Ref("rule"), "}]}");
    case FieldKind::kGradient:
      return StrCat("{\"anyOf\":[{\"enum\":[\"none\",\"auto\"]},", Ref("op_name"), ",",
                    Ref("gradient"), "]}");
    case FieldKind::kNames:
      return ListOf("{\"type\":\"string\"}");
    case FieldKind::kDefault:
      break;
  }
  return "{}";
}

std::string Object(ObjectKind kind, std::string_view more = "") {
  std::string properties;
  std::vector<std::string_view> required;
  for (const Field& field : FieldsOf(kind)) {
    std::string schema = KindSchema(field);
    schema.pop_back();  // the description goes in
    schema +=
        StrCat(schema.size() > 1 ? "," : "", "\"description\":", JsonQuote(field.description), "}");
    properties += StrCat(properties.empty() ? "" : ",", JsonQuote(field.name), ":", schema);
    if (field.required) required.push_back(field.name);
  }
  return StrCat("{\"type\":\"object\",\"properties\":{", properties,
                "},\"required\":", List(required), more, "}");
}

std::string DefaultSchema(AttrType type) {
  std::string integer = Integer(kMinInt);
  switch (type) {
    case AttrType::kInt:
      return integer;
    case AttrType::kFloat:
      return "{\"type\":\"number\"}";
    case AttrType::kString:
      return "{\"type\":\"string\"}";
    case AttrType::kBool:
      return "{\"type\":\"boolean\"}";
    case AttrType::kType:
      return Ref("dtype");
    case AttrType::kListInt:
      return ListOf(integer);
    case AttrType::kListFloat:
      return ListOf("{\"type\":\"number\"}");
    case AttrType::kListString:
      return ListOf("{\"type\":\"string\",\"not\":{\"pattern\":\"\\\\u0000\"}}");
    case AttrType::kListBool:
      return ListOf("{\"type\":\"boolean\"}");
    case AttrType::kListListInt:
      break;
  }
  return ListOf(ListOf(integer));
}

// "if the field is value, then".
std::string When(std::string_view field, std::string_view value, std::string_view then) {
  return StrCat("{\"if\":{\"properties\":{\"", field, "\":{\"const\":\"", value,
                "\"}},\"required\":[\"", field, "\"]},\"then\":", then, "}");
}

std::string AttrRules() {
  std::string rules =
      When("param_type", "optional", "{\"required\":[\"default_value\"]}") + "," +
      When("param_type", "required", "{\"not\":{\"required\":[\"default_value\"]}}");
  for (const AttrTypeRow& row : AttrTypeRows())
    rules +=
        "," + When("type", AttrTypeText(row.type),
                   StrCat("{\"properties\":{\"default_value\":", DefaultSchema(row.type), "}}"));
  return StrCat(",\"allOf\":[", rules, "]");
}

std::string ShapeSchema() {
  const std::string dim = Ref("dimension");
  return StrCat("{\"anyOf\":[{\"const\":[-2]},{\"type\":\"array\",\"maxItems\":", OPWRIGHT_MAX_RANK,
                ",\"items\":", dim,
                "},{\"type\":\"array\",\"minItems\":1,\"maxItems\":", OPWRIGHT_MAX_RANK + 1,
                ",\"prefixItems\":[{\"const\":\"...\"}],\"items\":", dim, "}]}");
}

std::string DimensionSchema() {
  return StrCat("{\"anyOf\":[", Integer("-1"),
                ",{\"type\":\"string\",\"pattern\":\"^[A-Za-z_][A-Za-z0-9_]{0,", kMaxNameLength - 1,
                "}$\",\"not\":{\"enum\":", List(RuleFunctions()), "}}]}");
}

std::string RuleSchema() {
  return StrCat(
      "{\"anyOf\":[{\"type\":\"string\"},{\"type\":\"array\",\"maxItems\":", OPWRIGHT_MAX_RANK + 1,
      ",\"items\":{\"anyOf\":[", Integer("0"), ",{\"type\":\"string\"}]}}]}");
}

// Two spaces a level; lists of words stay on their line as long as they fit.
std::string Pretty(std::string_view compact) {
  std::string out;
  size_t level = 0;
  bool in_string = false;
  const auto line = [&] { out += '\n' + std::string(2 * level, ' '); };
  for (size_t i = 0; i < compact.size(); ++i) {
    const char c = compact[i];
    if (c == '"' && (i == 0 || compact[i - 1] != '\\')) in_string = !in_string;
    if (in_string || c == '"') {
      out += c;
    } else if (c == '{' || c == '[') {
      const size_t end = compact.find_first_of("{}[]", i + 1);
      const bool leaf = end != compact.npos && compact[end] == (c == '{' ? '}' : ']');
      if (leaf && end - i < 72) {
        for (char inner : compact.substr(i, end - i + 1))
          out += inner == ',' ? ", " : std::string(1, inner);
        i = end;
      } else {
        out += c;
        ++level;
        line();
      }
    } else if (c == '}' || c == ']') {
      --level;
      line();
      out += c;
    } else {
      out += c;
      if (c == ',') line();
      if (c == ':') out += ' ';
    }
  }
  return out + '\n';
}

}  // namespace

std::string EmitSchema() {
  std::vector<std::string_view> dtypes;
  for (const DTypeSpelling& row : DTypeSpellings()) dtypes.push_back(row.written);
  return Pretty(StrCat(
      "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"title\":\"Opwright "
      "metadef\",",
      "\"anyOf\":[", Ref("operator"), ",{\"type\":\"array\",\"minItems\":1,\"items\":",
      Ref("operator"), "}],\"$defs\":{\"operator\":", Object(ObjectKind::kOperator), ",\"param\":",
      Object(ObjectKind::kParam), ",\"attr\":", Object(ObjectKind::kAttr, AttrRules()),
      ",\"gradient\":", Object(ObjectKind::kGradient), ",\"shape\":", ShapeSchema(),
      ",\"dimension\":", DimensionSchema(), ",\"rule\":", RuleSchema(),
      ",\"dtype\":{\"enum\":", List(dtypes), "},\"format\":{\"enum\":", List(FormatNames()),
      "},\"op_name\":", SnakeName({Keywords(), LibraryNames(), HiddenOperatorNames()}),
      ",\"name\":", SnakeName({Keywords(), ArgumentNames()}),
      ",\"namespace\":", SnakeName({Keywords(), TakenNamespaces()}), "}}"));
}

}  // namespace opwright::metadef

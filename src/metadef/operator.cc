// SPDX-License-Identifier: Apache-2.0
#include "metadef/operator.h"

#include <algorithm>
#include <map>
#include <unordered_map>
#include <unordered_set>

#include "base/text.h"
#include "metadef/attr.h"
#include "metadef/columns.h"
#include "metadef/field_checks.h"
#include "metadef/fields.h"
#include "metadef/gradient_field.h"
#include "metadef/reserved.h"
#include "metadef/shape_rule.h"

namespace opwright::metadef {
namespace {

Param ReadParam(Checker& checker, const JsonValue& object, const std::string& path) {
  const ObjectFields fields = CheckObject(checker, ObjectKind::kParam, object, StrCat(path, "."));
  Param param;
  param.span = checker.SpanOf(object);
  // A name that is wrong in itself is still what the rules mean.
  if (const JsonValue* name = object.Find("name")) param.name = name->string;
  if (const JsonValue* dtypes = fields["dtype"])
    for (const JsonValue& item : dtypes->items) param.dtypes.push_back(CanonicalDType(item.string));
  if (const JsonValue* formats = fields["format"])
    for (const JsonValue& item : formats->items) param.formats.push_back(item.string);
  if (object.Find("format") == nullptr) param.formats.emplace_back("ND");
  if (fields["shape"] != nullptr) param.shape = ReadShape(*fields["shape"]);
  if (const JsonValue* type = fields["param_type"])
    param.param_type = type->string == "optional"  ? ParamType::kOptional
                       : type->string == "dynamic" ? ParamType::kDynamic
                                                   : ParamType::kRequired;
  return param;
}

void ReadParams(Checker& checker, const JsonValue* list, const std::string& path,
                std::vector<Param>* params) {
  if (list == nullptr) return;
  for (size_t i = 0; i < list->items.size(); ++i)
    params->push_back(ReadParam(checker, list->items[i], StrCat(path, "[", i, "]")));
}

// Inputs, outputs and attributes share one space of names: they are the arguments of one call.
void CheckUnique(Checker& checker, const ObjectFields& fields, const std::string& path) {
  std::map<std::string_view, size_t> seen;
  for (std::string_view field : {"input_desc", "output_desc", "attr"}) {
    if (fields[field] == nullptr) continue;
    const std::vector<JsonValue>& items = fields[field]->items;
    for (size_t i = 0; i < items.size(); ++i) {
      const JsonValue* name = items[i].Find("name");
      if (name == nullptr || !name->is(JsonKind::kString)) continue;
      const auto [first, added] = seen.emplace(name->string, name->begin);
      if (added) continue;
      checker.Error("MD013", *name,
                    StrCat(path, field, "[", i, "].name: ", JsonQuote(name->string),
                           " is the name of an input, output or attribute already, at ",
                           checker.Place(first->second)),
                    "take another name");
    }
  }
}

// A name in a shape rule must mean one thing.
void CheckSymbols(Checker& checker, const ObjectFields& fields, const std::string& path,
                  const Operator& op) {
  std::unordered_set<std::string_view> attrs;
  for (const Attr& attr : op.attrs) attrs.insert(attr.name);
  for (std::string_view field : {"input_desc", "output_desc"}) {
    if (fields[field] == nullptr) continue;
    for (size_t i = 0; i < fields[field]->items.size(); ++i) {
      const JsonValue* shape = fields[field]->items[i].Find("shape");
      if (shape == nullptr || !shape->is(JsonKind::kList)) continue;
      for (size_t k = 0; k < shape->items.size(); ++k) {
        const std::string& symbol = shape->items[k].string;
        if (!symbol.empty() && attrs.contains(symbol))
          checker.Error("MD031", shape->items[k],
                        StrCat(path, field, "[", i, "].shape[", k, "]: ", symbol,
                               " is a dimension here and an attribute too"),
                        "name one of them differently");
      }
    }
  }
}

void ReadMutates(Checker& checker, const JsonValue& list, const std::string& path, Operator* op) {
  std::vector<std::string> names;
  names.reserve(op->inputs.size());
  for (const Param& input : op->inputs) names.push_back(input.name);
  std::unordered_map<std::string_view, int32_t> indices;
  for (size_t i = 0; i < names.size(); ++i) indices.emplace(names[i], static_cast<int32_t>(i));
  std::unordered_set<int32_t> listed;
  for (size_t i = 0; i < list.items.size(); ++i) {
    const std::string& name = list.items[i].string;
    const auto found = indices.find(name);
    if (found == indices.end()) {
      std::string hint = names.empty() ? "the operator has no inputs" : "";
      if (!names.empty() && checker.TakeHint()) {
        const std::string nearest = Nearest(name, names);
        hint = nearest.empty() ? StrCat("inputs are ", JoinAnd(names))
                               : StrCat("write \"", nearest, "\"");
      }
      checker.Error("MD032", list.items[i],
                    StrCat(path, "[", i, "]: ", JsonQuote(name), " is no input"), std::move(hint));
      continue;
    }
    const int32_t index = found->second;
    if (!listed.insert(index).second) {
      checker.Error("MD032", list.items[i],
                    StrCat(path, "[", i, "]: ", JsonQuote(name), " stands twice"),
                    "remove one of them");
      continue;
    }
    op->mutates.push_back(index);
  }
}

// Names that PyTorch's compiler takes for arguments of its own.
void CheckCompiled(Checker& checker, const JsonValue* list, const std::string& path,
                   std::span<const std::string_view> taken) {
  if (list == nullptr) return;
  for (size_t i = 0; i < list->items.size(); ++i) {
    const JsonValue* name = list->items[i].Find("name");
    if (name == nullptr || !Contains(taken, name->string)) continue;
    checker.Error("MD012", *name,
                  StrCat(path, "[", i, "].name: ", JsonQuote(name->string),
                         " is an argument that PyTorch's compiler passes itself to such operators"),
                  StrCat("take another name, \"", name->string, "_in\" for one"));
  }
}

}  // namespace

Reading ReadOperator(Checker& checker, const JsonValue& object, const std::string& path) {
  const int errors_before = checker.errors();
  const ObjectFields fields = CheckObject(checker, ObjectKind::kOperator, object, path);
  Reading reading;
  Operator& op = reading.op;
  op.file = checker.file();
  op.span = checker.SpanOf(object.begin, object.begin + 1);
  op.json = checker.text().substr(object.begin, object.end - object.begin);
  if (fields["op_name"] != nullptr) op.name = fields["op_name"]->string;
  if (fields["namespace"] != nullptr) op.ns = fields["namespace"]->string;
  ReadParams(checker, fields["input_desc"], StrCat(path, "input_desc"), &op.inputs);
  ReadParams(checker, fields["output_desc"], StrCat(path, "output_desc"), &op.outputs);
  if (fields["attr"] != nullptr) ReadAttrs(checker, *fields["attr"], StrCat(path, "attr"), &op);
  const JsonValue* outputs = fields["output_desc"];
  if (outputs != nullptr && op.outputs.empty())
    checker.Error("MD019", *outputs,
                  StrCat(path, "output_desc is an empty list, expected at least one output"),
                  "list what the kernel computes");
  CheckUnique(checker, fields, path);
  CheckSymbols(checker, fields, path, op);
  CheckColumns(checker, fields, path, &op);
  op.symbols = SymbolsOf(op.inputs, op.outputs);
  if (fields["mutates"] != nullptr)
    ReadMutates(checker, *fields["mutates"], StrCat(path, "mutates"), &op);
  const bool listed = fields["input_desc"] != nullptr && outputs != nullptr;
  const auto is_named = [](const Param& param) { return !param.name.empty(); };
  reading.named = listed && !op.name.empty() &&
                  std::all_of(op.inputs.begin(), op.inputs.end(), is_named) &&
                  std::all_of(op.outputs.begin(), op.outputs.end(), is_named);
  if (listed && (fields["shape_rule"] != nullptr || object.Find("shape_rule") == nullptr))
    ReadShapeRules(checker, fields["shape_rule"], *outputs, path, ShapesAreRead(fields), &op);
  if (fields["gradient"] != nullptr)
    ReadGradient(checker, *fields["gradient"], StrCat(path, "gradient"), &op);
  if (fields["side_effect"] != nullptr) op.side_effect = fields["side_effect"]->boolean;
  CheckCompiled(checker, fields["attr"], StrCat(path, "attr"), CompilerArguments());
  if (op.side_effect)
    CheckCompiled(checker, fields["attr"], StrCat(path, "attr"), EffectArguments());
  if (!op.mutates.empty()) {
    CheckCompiled(checker, fields["input_desc"], StrCat(path, "input_desc"), MutationArguments());
    CheckCompiled(checker, fields["attr"], StrCat(path, "attr"), MutationArguments());
  }
  if (const JsonValue* mixed = fields["mixed_dtypes"])
    op.mixed_dtypes = mixed->string == "float32" ? kOpwrightMixedFloat32
                      : mixed->string == "error" ? kOpwrightMixedError
                                                 : kOpwrightPromote;
  reading.good = checker.errors() == errors_before;
  return reading;
}

}  // namespace opwright::metadef

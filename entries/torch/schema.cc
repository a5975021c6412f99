// SPDX-License-Identifier: Apache-2.0
#include "entries/torch/schema.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "runtime/attrs.h"
#include "runtime/shape.h"

namespace opwright::entries {
namespace {

std::string InputText(const OpwrightOpDef& def, int32_t i) {
  const OpwrightParamDef& param = *def.inputs[i];
  std::string type = "Tensor";
  for (int32_t m = 0; m < def.num_mutates; ++m)
    if (def.mutates[m] == i) type = StrCat("Tensor(", static_cast<char>('a' + m), "!)");
  if (param.kind == kOpwrightDynamic) return StrCat(type, "[] ", param.name);
  if (param.kind == kOpwrightRequired) return StrCat(type, " ", param.name);
  // A default may only be followed by defaults.
  for (int32_t k = i + 1; k < def.num_inputs; ++k)
    if (def.inputs[k]->kind != kOpwrightOptional) return StrCat(type, "? ", param.name);
  return StrCat(type, "? ", param.name, "=None");
}

std::string FloatText(double value) {
  std::string text = StrCat(value);
  if (text.find_first_of(".ein") == text.npos) text += ".0";
  return text;
}

// PyTorch reads a schema's numbers by std::stod, which refuses these.
bool IsTiny(double value) { return std::fpclassify(value) == FP_SUBNORMAL; }

bool HasTiny(const OpwrightAttr& attr) {
  const auto* values = static_cast<const double*>(attr.value.data);
  return std::any_of(values, values + attr.size, IsTiny);
}

// The default of an attribute as the schema language writes it.
std::string DefaultText(const OpwrightAttr& attr) {
  switch (attr.type) {
    case kOpwrightAttrInt:
      return StrCat(attr.value.i);
    case kOpwrightAttrFloat:
      return FloatText(attr.value.f);
    case kOpwrightAttrBool:
      return attr.value.i != 0 ? "True" : "False";
    case kOpwrightAttrString:
    case kOpwrightAttrType:
      return JsonQuote(attr.value.s);
    case kOpwrightAttrListInt:
      return ListText<int64_t>(attr, [](int64_t v) { return StrCat(v); });
    case kOpwrightAttrListFloat:
      return ListText<double>(attr, [](double v) { return FloatText(v); });
    case kOpwrightAttrListBool:
      return ListText<int64_t>(attr,
                               [](int64_t v) { return std::string(v != 0 ? "True" : "False"); });
    default:
      return "";
  }
}

std::string AttrText(const OpwrightAttrDef& attr) {
  constexpr const char* kTypes[] = {"",         "SymInt",  "float", "str",    "bool",   "str",
                                    "SymInt[]", "float[]", "str[]", "bool[]", "int[][]"};
  const std::string type = kTypes[attr.type];
  if (attr.required) return StrCat(type, " ", attr.name);
  if (TakesNone(attr)) return StrCat(type, "? ", attr.name, "=None");
  return StrCat(type, " ", attr.name, "=", DefaultText(attr.default_value));
}

}  // namespace

bool TakesShape(const OpwrightOpDef& def, int32_t output) {
  return IsOfCaller(*def.shape_rules[output]);
}

bool TakesNone(const OpwrightAttrDef& attr) {
  if (attr.required) return false;
  switch (attr.type) {
    case kOpwrightAttrFloat:
      return IsTiny(attr.default_value.value.f);
    case kOpwrightAttrListFloat:
      return HasTiny(attr.default_value);
    default:
      return attr.type == kOpwrightAttrListString || attr.type == kOpwrightAttrListListInt;
  }
}

bool AlwaysTakesTensor(const OpwrightOpDef& def) {
  for (int32_t i = 0; i < def.num_inputs; ++i)
    if (def.inputs[i]->kind == kOpwrightRequired) return true;
  return false;
}

bool TakesWanted(const OpwrightOpDef& def) {
  for (int32_t i = 0; i < def.num_outputs; ++i)
    if (def.outputs[i]->kind == kOpwrightOptional) return true;
  return false;
}

std::string TorchSchema(const OpwrightOpDef& def, const std::string& name) {
  std::string text = name + "(";
  std::string separator;
  const auto add = [&](const std::string& argument) {
    text += separator + argument;
    separator = ", ";
  };
  for (int32_t i = 0; i < def.num_inputs; ++i) add(InputText(def, i));
  bool keyword_only = false;
  const auto add_keyword = [&](const std::string& argument) {
    if (!keyword_only) add("*");
    keyword_only = true;
    add(argument);
  };
  for (int32_t i = 0; i < def.num_attrs; ++i) add_keyword(AttrText(*def.attrs[i]));
  for (int32_t i = 0; i < def.num_outputs; ++i)
    if (TakesShape(def, i)) add_keyword(StrCat("SymInt[] _", def.outputs[i]->name, "_shape"));
  if (TakesWanted(def)) add_keyword("bool[]? _wanted=None");
  text += ") -> ";
  if (def.num_outputs != 1) text += '(';
  for (int32_t i = 0; i < def.num_outputs; ++i)
    text +=
        StrCat(i > 0 ? ", " : "", def.outputs[i]->kind == kOpwrightDynamic ? "Tensor[]" : "Tensor");
  return def.num_outputs != 1 ? text + ")" : text;
}

}  // namespace opwright::entries

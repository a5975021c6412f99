// SPDX-License-Identifier: Apache-2.0
#include "metadef/fields.h"

#include "base/text.h"

namespace opwright::metadef {
namespace {

constexpr std::string_view kOpTypes[] = {"Custom"};
constexpr std::string_view kMixed[] = {"promote", "float32", "error"};

constexpr AttrTypeRow kAttrTypeRows[] = {
    {AttrType::kInt, "1"},
    {AttrType::kFloat, "0.5"},
    {AttrType::kString, "\"mean\""},
    {AttrType::kBool, "true or false"},
    {AttrType::kType, "\"float32\""},
    {AttrType::kListInt, "[1, 2]"},
    {AttrType::kListFloat, "[0.5, 1]"},
    {AttrType::kListString, "[\"a\", \"b\"]"},
    {AttrType::kListBool, "[true, false]"},
    {AttrType::kListListInt, "[[1, 2], [3]]"},
};

constexpr auto kAttrTypeChoices = [] {
  std::array<std::string_view, std::size(kAttrTypeRows)> names;
  for (size_t i = 0; i < names.size(); ++i) names[i] = AttrTypeText(kAttrTypeRows[i].type);
  return names;
}();

constexpr Field kOperatorFields[] = {
    {"op_name", FieldKind::kOpName, true, {}, "The operator's name, also that of its C symbols."},
    {"op_type", FieldKind::kChoice, false, kOpTypes, "Always \"Custom\"."},
    {"namespace",
     FieldKind::kNamespace,
     false,
     {},
     "The namespace in PyTorch; \"opwright\" unless said."},
    {"input_desc", FieldKind::kParams, true, {}, "The inputs, in the order of a call."},
    {"output_desc", FieldKind::kParams, true, {}, "The outputs, at least one."},
    {"attr", FieldKind::kAttrs, false, {}, "The attributes, passed by keyword."},
    {"shape_rule", FieldKind::kShapeRule, false, {}, "How the shapes of the outputs follow."},
    {"gradient", FieldKind::kGradient, false, {}, "Where the gradient comes from."},
    {"mutates", FieldKind::kNames, false, {}, "The inputs that the kernel writes."},
    {"side_effect", FieldKind::kBool, false, {}, "Whether a call does more than fill its outputs."},
    {"mixed_dtypes", FieldKind::kChoice, false, kMixed, "What happens to mixed float inputs."},
};

constexpr Field kParamFields[] = {
    {"name", FieldKind::kName, true, {}, "The name."},
    {"dtype", FieldKind::kDTypes, true, {}, "One dtype for each column, or one for all."},
    {"format", FieldKind::kFormats, false, {}, "One format for each column, or one for all."},
    {"shape", FieldKind::kShape, true, {}, "The shape; [-2] is any rank."},
    {"param_type", FieldKind::kChoice, false, kParamKinds, "Required unless said."},
};

constexpr Field kAttrFields[] = {
    {"name", FieldKind::kName, true, {}, "The name."},
    {"type", FieldKind::kChoice, true, kAttrTypeChoices, "The type of the value."},
    {"param_type", FieldKind::kChoice, false, std::span(kParamKinds).first(2),
     "Optional if there is a default value, else required."},
    {"default_value", FieldKind::kDefault, false, {}, "The value of an optional attribute."},
};

constexpr Field kGradientFields[] = {
    {"op", FieldKind::kOpName, true, {}, "The backward operator."},
    {"inputs",
     FieldKind::kNames,
     true,
     {},
     "For each of its inputs a forward input, a forward output or grad_OUTPUT."},
    {"outputs", FieldKind::kNames, true, {}, "For each of its outputs the forward input."},
};

constexpr DTypeSpelling kDTypes[] = {
    {"float32", "float32"},       {"float", "float32"}, {"fp32", "float32"},
    {"float16", "float16"},       {"half", "float16"},  {"fp16", "float16"},
    {"bfloat16", "bfloat16"},     {"bf16", "bfloat16"}, {"float64", "float64"},
    {"double", "float64"},        {"fp64", "float64"},  {"int8", "int8"},
    {"int16", "int16"},           {"int32", "int32"},   {"int64", "int64"},
    {"uint8", "uint8"},           {"uint16", "uint16"}, {"uint32", "uint32"},
    {"uint64", "uint64"},         {"bool", "bool"},     {"complex64", "complex64"},
    {"complex128", "complex128"},
};

constexpr std::string_view kFormats[] = {
    "ND",        "NCHW",       "NHWC",         "HWCN",      "NC",      "CN",
    "NCL",       "NDHWC",      "NCDHW",        "DHWCN",     "NC1HWC0", "NDC1HWC0",
    "FRACTAL_Z", "FRACTAL_NZ", "FRACTAL_Z_3D", "C1HWNCoC0", "CHWN",
};

}  // namespace

std::span<const Field> FieldsOf(ObjectKind kind) {
  switch (kind) {
    case ObjectKind::kOperator:
      return kOperatorFields;
    case ObjectKind::kParam:
      return kParamFields;
    case ObjectKind::kAttr:
      return kAttrFields;
    case ObjectKind::kGradient:
      break;
  }
  return kGradientFields;
}

std::span<const DTypeSpelling> DTypeSpellings() { return kDTypes; }
std::span<const std::string_view> FormatNames() { return kFormats; }
std::span<const AttrTypeRow> AttrTypeRows() { return kAttrTypeRows; }

const JsonValue* ObjectFields::operator[](std::string_view name) const {
  for (size_t i = 0; i < fields.size(); ++i)
    if (fields[i].name == name) return values[i];
  return nullptr;
}

std::string SuggestName(std::string_view word, std::span<const std::string_view> names) {
  const std::vector<std::string> candidates(names.begin(), names.end());
  std::vector<std::string> longer;
  for (const std::string& each : candidates)
    if (!word.empty() && each.starts_with(word)) longer.push_back(each);
  if (longer.size() > 1) return StrCat("write one of ", JoinAnd(longer));
  const std::string nearest = Nearest(word, candidates);
  if (!nearest.empty()) return StrCat("write \"", nearest, "\"");
  if (candidates.size() == 1) return StrCat("write \"", candidates[0], "\"");
  if (candidates.size() <= 24 && !candidates.empty())
    return StrCat("known are ", JoinAnd(candidates));
  return "";
}

}  // namespace opwright::metadef

// SPDX-License-Identifier: Apache-2.0
//
// An operator in the flat form of the C interface. Everything that the structs point to lies in
// deques and maps of one Storage on the heap, whose elements never move.
#include <algorithm>
#include <deque>

#include "base/dtype_name.h"
#include "base/text.h"
#include "metadef/gradient.h"
#include "metadef/metadef.h"

namespace opwright::metadef {

struct Lowered::Storage {
  Operator op;  // the strings and rule programs that def points to
  std::deque<std::vector<int64_t>> numbers;
  std::deque<std::vector<OpwrightDType>> dtypes;
  std::deque<std::vector<const char*>> texts;
  std::deque<std::vector<OpwrightAttr>> lists;
  std::deque<OpwrightParamDef> params;
  std::deque<OpwrightAttrDef> attrs;
  std::deque<OpwrightShapeRule> rules;
  std::vector<const OpwrightParamDef*> inputs;
  std::vector<const OpwrightParamDef*> outputs;
  std::vector<const OpwrightAttrDef*> attr_table;
  std::vector<const OpwrightShapeRule*> rule_table;
  std::vector<const char*> symbols;
  Binding binding;
  OpwrightGradient gradient{};
  OpwrightOpDef def{};
};

namespace {

using Storage = Lowered::Storage;

template <class T>
int32_t Size(const std::vector<T>& list) {
  return static_cast<int32_t>(list.size());
}

int64_t LowerDim(const Dim& dim, const Operator& op) {
  if (dim.symbol.empty()) return dim.value;
  const auto found = std::find(op.symbols.begin(), op.symbols.end(), dim.symbol);
  return -2 - (found - op.symbols.begin());
}

const OpwrightParamDef* LowerParam(const Param& param, Storage* storage) {
  std::vector<int64_t>& dims = storage->numbers.emplace_back();
  for (const Dim& dim : param.shape.dims) dims.push_back(LowerDim(dim, storage->op));
  std::vector<OpwrightDType>& dtypes = storage->dtypes.emplace_back();
  for (int k = 0; k < storage->op.num_columns; ++k) dtypes.push_back(DTypeNamed(param.DType(k)));
  OpwrightParamDef& def = storage->params.emplace_back();
  def = {};
  def.struct_size = sizeof def;
  def.name = param.name.c_str();
  def.kind = static_cast<int32_t>(param.param_type);
  def.num_dims = Size(dims);
  def.dims = dims.data();
  def.dtypes = dtypes.data();
  def.leading_any = param.shape.any_leading;
  def.nd_format = std::all_of(param.formats.begin(), param.formats.end(),
                              [](const std::string& format) { return format == "ND"; });
  return &def;
}

OpwrightAttr LowerIntList(const std::vector<int64_t>& list, int32_t type) {
  OpwrightAttr lowered{};
  lowered.type = type;
  lowered.size = static_cast<int64_t>(list.size());
  lowered.value.data = list.data();
  return lowered;
}

OpwrightAttr LowerValue(const AttrValue& value, AttrType type, Storage* storage) {
  OpwrightAttr lowered{};
  lowered.type = static_cast<int32_t>(type);
  switch (type) {
    case AttrType::kInt:
    case AttrType::kBool:
      lowered.value.i = value.i;
      break;
    case AttrType::kFloat:
      lowered.value.f = value.f;
      break;
    case AttrType::kString:
    case AttrType::kType:
      lowered.size = static_cast<int64_t>(value.s.size());
      lowered.value.s = value.s.c_str();
      break;
    case AttrType::kListInt:
    case AttrType::kListBool:
      return LowerIntList(value.ints, lowered.type);
    case AttrType::kListFloat:
      lowered.size = static_cast<int64_t>(value.floats.size());
      lowered.value.data = value.floats.data();
      break;
    case AttrType::kListString: {
      std::vector<const char*>& texts = storage->texts.emplace_back();
      for (const std::string& text : value.strings) texts.push_back(text.c_str());
      lowered.size = static_cast<int64_t>(texts.size());
      lowered.value.data = texts.data();
      break;
    }
    case AttrType::kListListInt: {
      std::vector<OpwrightAttr>& lists = storage->lists.emplace_back();
      for (const std::vector<int64_t>& list : value.int_lists)
        lists.push_back(LowerIntList(list, kOpwrightAttrListInt));
      lowered.size = static_cast<int64_t>(lists.size());
      lowered.value.data = lists.data();
      break;
    }
  }
  return lowered;
}

const OpwrightAttrDef* LowerAttr(const Attr& attr, Storage* storage) {
  OpwrightAttrDef& def = storage->attrs.emplace_back();
  def = {};
  def.struct_size = sizeof def;
  def.name = attr.name.c_str();
  def.type = static_cast<int32_t>(attr.type);
  def.required = attr.required;
  if (!attr.required) def.default_value = LowerValue(attr.default_value, attr.type, storage);
  return &def;
}

const OpwrightShapeRule* LowerRule(const ShapeRule& rule, Storage* storage) {
  OpwrightShapeRule& def = storage->rules.emplace_back();
  def = {};
  def.struct_size = sizeof def;
  def.kind = rule.kind;
  def.num_args = Size(rule.args);
  def.args = rule.args.data();
  def.code_size = static_cast<int64_t>(rule.code.size());
  def.code = rule.code.data();
  def.leading_any = rule.leading_any;
  def.text = rule.text.c_str();
  return &def;
}

void LowerGradient(Binding binding, Storage* storage) {
  storage->binding = std::move(binding);
  OpwrightGradient& gradient = storage->gradient;
  gradient.struct_size = sizeof gradient;
  gradient.op = storage->op.gradient.op.c_str();
  gradient.num_inputs = Size(storage->binding.inputs);
  gradient.num_outputs = Size(storage->binding.outputs);
  gradient.inputs = storage->binding.inputs.data();
  gradient.outputs = storage->binding.outputs.data();
  storage->def.gradient = &gradient;
}

void LowerOperator(Storage* storage) {
  const Operator& op = storage->op;
  for (const Param& input : op.inputs) storage->inputs.push_back(LowerParam(input, storage));
  for (const Param& output : op.outputs) storage->outputs.push_back(LowerParam(output, storage));
  for (const Attr& attr : op.attrs) storage->attr_table.push_back(LowerAttr(attr, storage));
  for (const ShapeRule& rule : op.shape_rules)
    storage->rule_table.push_back(LowerRule(rule, storage));
  for (const std::string& symbol : op.symbols) storage->symbols.push_back(symbol.c_str());
  OpwrightOpDef& def = storage->def;
  def.struct_size = sizeof def;
  def.name = op.name.c_str();
  def.ns = op.ns.c_str();
  def.num_columns = op.num_columns;
  def.num_inputs = Size(op.inputs);
  def.num_outputs = Size(op.outputs);
  def.num_attrs = Size(op.attrs);
  def.num_symbols = Size(op.symbols);
  def.num_mutates = Size(op.mutates);
  def.inputs = storage->inputs.data();
  def.outputs = storage->outputs.data();
  def.attrs = storage->attr_table.data();
  def.shape_rules = storage->rule_table.data();
  def.symbols = storage->symbols.data();
  def.mutates = op.mutates.data();
  def.side_effect = op.side_effect;
  def.mixed_dtypes = op.mixed_dtypes;
  def.json = op.json.c_str();
}

}  // namespace

Lowered::Lowered(std::unique_ptr<Storage> storage) : storage_(std::move(storage)) {}
Lowered::Lowered(Lowered&&) noexcept = default;
Lowered& Lowered::operator=(Lowered&&) noexcept = default;
Lowered::~Lowered() = default;
const OpwrightOpDef& Lowered::def() const { return storage_->def; }

Expected<Lowered> Lower(const Operator& op, std::span<const Operator> others) {
  if (op.gradient.kind == GradientSpec::Kind::kAuto) {
    const Span& at = op.gradient.span;
    Error error = MakeError(
        "GR022", StrCat("the gradient \"auto\" of ", op.name,
                        " would be derived from a formula, and the operator is a kernel"));
    error.diagnostics.push_back({"GR022", Severity::kError, op.file, at.line, at.column, at.length,
                                 error.message, "name its backward operator, or leave it out"});
    return error;
  }
  auto storage = std::make_unique<Storage>();
  storage->op = op;
  LowerOperator(storage.get());
  if (op.gradient.kind == GradientSpec::Kind::kOperator) {
    for (const Operator& other : others) {
      if (other.name != op.gradient.op) continue;
      Expected<Binding> binding = BindGradient(op, other);
      if (!binding.ok()) return binding.TakeError();
      LowerGradient(std::move(*binding), storage.get());
      break;
    }
  }
  return Lowered(std::move(storage));
}

}  // namespace opwright::metadef

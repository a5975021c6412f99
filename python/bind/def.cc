// SPDX-License-Identifier: Apache-2.0
//
// The lowered metadef as plain Python data, for the adapters; and the dtype decisions of the
// dispatcher.
#include "attr_value.h"
#include "base/dtype.h"
#include "base/dtype_name.h"
#include "base/spelling.h"
#include "bind.h"
#include "entries/torch/schema.h"
#include "runtime/attrs.h"
#include "runtime/launch.h"
#include "runtime/partial_shape.h"
#include "runtime/signature.h"

namespace opwright::python {
namespace {

nb::dict ParamDict(const OpwrightOpDef& def, const OpwrightParamDef& param) {
  nb::dict out;
  out["name"] = param.name;
  out["kind"] = param.kind;
  nb::list dims;
  for (int32_t k = 0; k < param.num_dims; ++k) {
    if (param.dims[k] <= -2)
      dims.append(def.symbols[-(param.dims[k] + 2)]);
    else
      dims.append(param.dims[k]);
  }
  out["dims"] = dims;
  out["leading_any"] = param.leading_any != 0;
  nb::list dtypes;
  for (int32_t c = 0; c < def.num_columns; ++c) dtypes.append(opwright::DTypeName(param.dtypes[c]));
  out["dtypes"] = dtypes;
  return out;
}

nb::dict RuleDict(const OpwrightShapeRule& rule) {
  nb::dict out;
  out["kind"] = rule.kind;
  nb::list args;
  for (int32_t k = 0; k < rule.num_args; ++k) args.append(rule.args[k]);
  out["args"] = args;
  nb::list code;
  for (int64_t k = 0; k < rule.code_size; ++k) code.append(rule.code[k]);
  out["code"] = code;
  out["leading_any"] = rule.leading_any != 0;
  out["text"] = rule.text == nullptr ? "" : rule.text;
  return out;
}

nb::object GradientDict(const OpwrightGradient* gradient) {
  if (gradient == nullptr) return nb::none();
  nb::dict out;
  out["op"] = gradient->op;
  nb::list inputs;
  for (int32_t i = 0; i < gradient->num_inputs; ++i)
    inputs.append(nb::make_tuple(gradient->inputs[i].kind, gradient->inputs[i].index));
  out["inputs"] = inputs;
  nb::list outputs;
  for (int32_t i = 0; i < gradient->num_outputs; ++i) outputs.append(gradient->outputs[i]);
  out["outputs"] = outputs;
  return out;
}

nb::dict DefDict(PyOperator& self) {
  if (!self.op->has_metadef()) RaiseIfError(self.op->Call({}));
  const OpwrightOpDef& def = self.op->def();
  nb::dict out;
  out["name"] = def.name;
  out["namespace"] = def.ns;
  nb::list inputs, outputs, attrs, rules, symbols, mutates;
  for (int32_t i = 0; i < def.num_inputs; ++i) inputs.append(ParamDict(def, *def.inputs[i]));
  for (int32_t i = 0; i < def.num_outputs; ++i) {
    outputs.append(ParamDict(def, *def.outputs[i]));
    rules.append(RuleDict(*def.shape_rules[i]));
  }
  for (int32_t i = 0; i < def.num_attrs; ++i) {
    nb::dict attr;
    attr["name"] = def.attrs[i]->name;
    attr["type"] = def.attrs[i]->type;
    attr["required"] = def.attrs[i]->required != 0;
    attr["default"] = AttrToPython(def.attrs[i]->default_value);
    attrs.append(attr);
  }
  for (int32_t i = 0; i < def.num_symbols; ++i) symbols.append(def.symbols[i]);
  for (int32_t i = 0; i < def.num_mutates; ++i) mutates.append(def.mutates[i]);
  out["inputs"] = inputs;
  out["outputs"] = outputs;
  out["attrs"] = attrs;
  out["shape_rules"] = rules;
  out["symbols"] = symbols;
  out["mutates"] = mutates;
  out["side_effect"] = def.side_effect != 0;
  out["gradient"] = GradientDict(self.op->gradient());
  return out;
}

void CheckCount(const OpwrightOpDef& def, size_t inputs) {
  if (inputs != static_cast<size_t>(def.num_inputs))
    Raise(MakeError("CL001", StrCat(def.name, ": ", Count(static_cast<int64_t>(inputs), "input"),
                                    " given, the metadef lists ", def.num_inputs)));
}

OpwrightDType DTypeFromText(const OpwrightOpDef& def, size_t input, const std::string& name) {
  if (name == "weak_float") return {kOpwrightFloat, 64, 0};
  if (name == "weak_int") return {kOpwrightInt, 64, 0};
  if (name == "weak_bool") return {kOpwrightBool, 64, 0};
  const OpwrightDType dtype = DTypeNamed(name);
  if (dtype.bits == 0)
    Raise(
        MakeError("CL002", StrCat(def.name, ": dtype ", name, " of input ", def.inputs[input]->name,
                                  " is none that a metadef lists; convert it")));
  return dtype;
}

// Tensors that carry a dtype and nothing else, one list for each input.
struct DTypesOnly {
  DTypesOnly(const OpwrightOpDef& def, const std::vector<std::vector<std::string>>& dtypes) {
    CheckCount(def, dtypes.size());
    tensors.resize(dtypes.size());
    for (size_t i = 0; i < dtypes.size(); ++i) {
      for (const std::string& name : dtypes[i]) {
        OpwrightTensor tensor = {};
        tensor.dtype = DTypeFromText(def, i, name);
        tensors[i].push_back(tensor);
      }
      arguments.push_back({tensors[i].data(), static_cast<int64_t>(tensors[i].size())});
    }
  }
  std::vector<std::vector<OpwrightTensor>> tensors;
  std::vector<OpwrightArgument> arguments;
};

nb::str Text(std::string_view text) { return nb::str(text.data(), text.size()); }

// Numbers of the C interface by name: Python says none of them itself.
nb::dict Numbers(std::initializer_list<std::pair<const char*, int>> rows) {
  nb::dict out;
  for (const auto& [name, number] : rows) out[name] = number;
  return out;
}

void AddNumbers(nb::module_& m) {
  m.attr("max_rank") = OPWRIGHT_MAX_RANK;
  nb::dict param_kinds;
  for (int kind = kOpwrightRequired; kind <= kOpwrightDynamic; ++kind)
    param_kinds[Text(ParamKindName(kind))] = kind;
  m.attr("param_kinds") = param_kinds;
  nb::dict attr_types;
  for (int type = kOpwrightAttrInt; type <= kOpwrightAttrListListInt; ++type)
    attr_types[Text(AttrTypeName(type))] = type;
  m.attr("attr_types") = attr_types;
  m.attr("shape_rules") = Numbers({{"same", kOpwrightShapeSame},
                                   {"broadcast", kOpwrightShapeBroadcast},
                                   {"kernel", kOpwrightShapeKernel},
                                   {"forward", kOpwrightShapeForward}});
  m.attr("roles") = Numbers({{"input", kOpwrightRoleInput},
                             {"output", kOpwrightRoleOutput},
                             {"grad", kOpwrightRoleGrad}});
  m.attr("shape_opcodes") = Numbers({{"push", kOpwrightPush},
                                     {"symbol", kOpwrightSymbol},
                                     {"attr", kOpwrightAttrInt64},
                                     {"dim", kOpwrightDim},
                                     {"rank", kOpwrightRank},
                                     {"add", kOpwrightAdd},
                                     {"sub", kOpwrightSub},
                                     {"mul", kOpwrightMul},
                                     {"floor_div", kOpwrightFloorDiv},
                                     {"mod", kOpwrightMod},
                                     {"min", kOpwrightMin},
                                     {"max", kOpwrightMax},
                                     {"ceil_div", kOpwrightCeilDiv},
                                     {"neg", kOpwrightNeg}});
}

using Spec = std::pair<PartialShape, std::string>;

// Tensors that carry a shape and a dtype.
struct SpecsOnly {
  SpecsOnly(const OpwrightOpDef& def, const std::vector<std::vector<Spec>>& inputs)
      : shapes(inputs) {
    CheckCount(def, inputs.size());
    tensors.resize(inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) {
      for (auto& [shape, dtype] : shapes[i])
        tensors[i].push_back(ShapeOnlyTensor(DTypeFromText(def, i, dtype),
                                             static_cast<int32_t>(shape.size()), shape.data()));
      arguments.push_back({tensors[i].data(), static_cast<int64_t>(tensors[i].size())});
    }
  }
  std::vector<std::vector<Spec>> shapes;
  std::vector<std::vector<OpwrightTensor>> tensors;
  std::vector<OpwrightArgument> arguments;
};

// One an attribute, those that the dict has.
std::vector<OpwrightAttr> AttrsOf(const OpwrightOpDef& def, const nb::dict& attrs, Arena& arena) {
  std::vector<OpwrightAttr> values(static_cast<size_t>(def.num_attrs));
  for (int32_t i = 0; i < def.num_attrs; ++i)
    if (attrs.contains(def.attrs[i]->name))
      values[static_cast<size_t>(i)] =
          AttrFromPython(def, *def.attrs[i], attrs[def.attrs[i]->name].ptr(), arena);
  return values;
}

}  // namespace

void InitDef(nb::module_& m) {
  AddNumbers(m);
  m.def(
      "torch_schema", [](PyOperator& self) { return entries::TorchSchema(self.op->def(), ""); },
      "The operator as a PyTorch schema without a name, as its library's own entry writes it.");
  m.def("definition", &DefDict, "The lowered metadef of an operator as dicts and lists.");
  m.def(
      "select_column",
      [](PyOperator& self, const std::vector<std::vector<std::string>>& dtypes) {
        DTypesOnly only(self.op->def(), dtypes);
        return ValueOrRaise(SelectColumn(self.op->def(), only.arguments.data(),
                                         static_cast<int32_t>(only.arguments.size())));
      },
      "The dtype column for inputs of these dtypes; \"weak_float\", \"weak_int\" and \"weak_bool\" "
      "are Python numbers.");
  m.def(
      "infer_specs",
      [](PyOperator& self, const std::vector<std::vector<Spec>>& inputs, const nb::dict& attrs) {
        const OpwrightOpDef& def = self.op->def();
        Arena arena(nullptr);
        SpecsOnly only(def, inputs);
        const std::vector<OpwrightAttr> values = AttrsOf(def, attrs, arena);
        CallArguments arguments;
        arguments.inputs = only.arguments.data();
        arguments.num_inputs = static_cast<int32_t>(only.arguments.size());
        arguments.attrs = values.data();
        arguments.num_attrs = def.num_attrs;
        std::vector<InferredOutput> result(static_cast<size_t>(def.num_outputs));
        RaiseIfError(self.op->Infer(arguments, result.data(), arena));
        std::vector<Spec> outputs;
        for (const InferredOutput& output : result)
          for (int64_t k = 0; k < output.count; ++k)
            outputs.emplace_back(
                PartialShape(output.shapes[k].dims, output.shapes[k].dims + output.shapes[k].ndim),
                opwright::DTypeName(output.dtype));
        return outputs;
      },
      "(shape, dtype) of each output tensor from those of each input's tensors; \"weak_float\" ... "
      "are Python numbers.");
  m.def(
      "infer_partial_shapes",
      [](PyOperator& self, const std::vector<PartialShape>& inputs, const nb::dict& attrs) {
        const OpwrightOpDef& def = self.op->def();
        Arena arena(nullptr);
        const std::vector<OpwrightAttr> values = AttrsOf(def, attrs, arena);
        return InferPartialShapes(def, inputs, values.data());
      },
      "The outputs' shapes where -1 is an unknown dimension and [-2] an unknown rank.");
  m.def(
      "select_gradient_column",
      [](PyOperator& self, const std::vector<std::vector<std::string>>& dtypes) {
        const Operator* backward = self.op->backward();
        if (backward == nullptr || self.op->gradient() == nullptr)
          Raise(MakeError("IN001", "select_gradient_column for an operator without gradient"));
        DTypesOnly only(backward->def(), dtypes);
        return ValueOrRaise(SelectGradientColumn(backward->def(), self.op->gradient()->inputs,
                                                 only.arguments.data()));
      },
      "The backward operator's column for its inputs' dtypes.");
}

}  // namespace opwright::python

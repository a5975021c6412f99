// SPDX-License-Identifier: Apache-2.0
#include "build/stub.h"

#include "base/text.h"
#include "build/c_text.h"
#include "build/symbols.h"

namespace opwright::build {
namespace {

// Writes the constants of one operator. Every array is a constant of its own, named by what it is
// and numbered, before the struct that points to it.
class DefWriter {
 public:
  DefWriter(const OpwrightOpDef& def, int index, std::string* out)
      : def_(def), prefix_(StrCat("opwright_op", index, "_")), out_(*out) {}

  // Returns the name of the OpwrightOpDef.
  std::string Write() {
    std::vector<std::string> inputs, outputs, attrs, rules, symbols, mutates;
    for (int32_t i = 0; i < def_.num_inputs; ++i) inputs.push_back(Param(*def_.inputs[i]));
    for (int32_t i = 0; i < def_.num_outputs; ++i) outputs.push_back(Param(*def_.outputs[i]));
    for (int32_t i = 0; i < def_.num_attrs; ++i) attrs.push_back(AttrDef(*def_.attrs[i]));
    for (int32_t i = 0; i < def_.num_outputs; ++i) rules.push_back(ShapeRule(*def_.shape_rules[i]));
    for (int32_t i = 0; i < def_.num_symbols; ++i) symbols.push_back(CString(def_.symbols[i]));
    for (int32_t i = 0; i < def_.num_mutates; ++i) mutates.push_back(StrCat(def_.mutates[i]));
    const std::string gradient = def_.gradient != nullptr ? Gradient(*def_.gradient) : "0";
    const std::string input_list = Array("OpwrightParamDef* const", "inputs", inputs);
    const std::string output_list = Array("OpwrightParamDef* const", "outputs", outputs);
    const std::string attr_list = Array("OpwrightAttrDef* const", "attrs", attrs);
    const std::string rule_list = Array("OpwrightShapeRule* const", "shape_rules", rules);
    const std::string symbol_list = Array("char* const", "symbols", symbols);
    const std::string mutate_list = Array("int32_t", "mutates", mutates);
    const std::string name = prefix_ + "def";
    out_ += StrCat("static const OpwrightOpDef ", name, " = {\n    sizeof(OpwrightOpDef), ",
                   CString(def_.name), ", ", CString(def_.ns), ", ", def_.num_columns, ", ",
                   def_.num_inputs, ", ", def_.num_outputs, ", ", def_.num_attrs, ", ",
                   def_.num_symbols, ", ", def_.num_mutates, ",\n    ", input_list, ", ",
                   output_list, ", ", attr_list, ", ", rule_list, ", ", symbol_list, ", ",
                   mutate_list, ", ", gradient, ", ", def_.side_effect, ", ", def_.mixed_dtypes,
                   ",\n    ", CString(def_.json), "};\n");
    return name;
  }

 private:
  // The name of a new array, or "0" for none.
  std::string Array(std::string_view type, std::string_view what,
                    const std::vector<std::string>& values) {
    if (values.empty()) return "0";
    const std::string name = NewName(what);
    out_ += StrCat("static const ", type, " ", name, "[] = {", Join(values, ", "), "};\n");
    return name;
  }
  // A pointer to a new struct.
  std::string Struct(std::string_view type, std::string_view what, const std::string& values) {
    const std::string name = NewName(what);
    out_ += StrCat("static const ", type, " ", name, " = {sizeof(", type, "), ", values, "};\n");
    return StrCat("&", name);
  }
  std::string NewName(std::string_view what) { return StrCat(prefix_, what, "_", count_++); }

  std::string Ints(std::string_view type, std::string_view what, const int64_t* values,
                   int64_t size) {
    std::vector<std::string> texts;
    for (int64_t i = 0; i < size; ++i) texts.push_back(CInt64(values[i]));
    return Array(type, what, texts);
  }

  std::string Param(const OpwrightParamDef& param) {
    const std::string dims = Ints("int64_t", "dims", param.dims, param.num_dims);
    std::vector<std::string> dtypes;
    for (int32_t i = 0; i < def_.num_columns; ++i) {
      const OpwrightDType& dtype = param.dtypes[i];
      dtypes.push_back(StrCat("{", dtype.code, ", ", dtype.bits, ", ", dtype.lanes, "}"));
    }
    const std::string columns = Array("OpwrightDType", "dtypes", dtypes);
    return Struct("OpwrightParamDef", "param",
                  StrCat(CString(param.name), ", ", param.kind, ", ", param.num_dims, ", ", dims,
                         ", ", columns, ", ", param.leading_any, ", ", param.nd_format));
  }

  std::string Attr(const OpwrightAttr& attr) {
    std::vector<std::string> items;
    std::string value = ".i = 0";
    switch (attr.type) {
      case kOpwrightAttrInt:
      case kOpwrightAttrBool:
        value = StrCat(".i = ", CInt64(attr.value.i));
        break;
      case kOpwrightAttrFloat:
        value = StrCat(".f = ", CDouble(attr.value.f));
        break;
      case kOpwrightAttrString:
      case kOpwrightAttrType:
        value = StrCat(".s = ", CString({attr.value.s, static_cast<size_t>(attr.size)}));
        break;
      case kOpwrightAttrListInt:
      case kOpwrightAttrListBool:
        value = StrCat(".data = ", Ints("int64_t", "values",
                                        static_cast<const int64_t*>(attr.value.data), attr.size));
        break;
      case kOpwrightAttrListFloat:
        for (int64_t i = 0; i < attr.size; ++i)
          items.push_back(CDouble(static_cast<const double*>(attr.value.data)[i]));
        value = StrCat(".data = ", Array("double", "values", items));
        break;
      case kOpwrightAttrListString:
        for (int64_t i = 0; i < attr.size; ++i)
          items.push_back(CString(static_cast<const char* const*>(attr.value.data)[i]));
        value = StrCat(".data = ", Array("char* const", "values", items));
        break;
      case kOpwrightAttrListListInt:
        for (int64_t i = 0; i < attr.size; ++i)
          items.push_back(Attr(static_cast<const OpwrightAttr*>(attr.value.data)[i]));
        value = StrCat(".data = ", Array("OpwrightAttr", "values", items));
        break;
      default:
        break;
    }
    return StrCat("{", attr.type, ", 0, ", CInt64(attr.size), ", {", value, "}}");
  }

  std::string AttrDef(const OpwrightAttrDef& attr) {
    const std::string value = Attr(attr.default_value);
    return Struct("OpwrightAttrDef", "attr",
                  StrCat(CString(attr.name), ", ", attr.type, ", ", attr.required, ", ", value));
  }

  std::string ShapeRule(const OpwrightShapeRule& rule) {
    std::vector<std::string> args;
    for (int32_t i = 0; i < rule.num_args; ++i) args.push_back(StrCat(rule.args[i]));
    const std::string arg_list = Array("int32_t", "rule_args", args);
    const std::string code = Ints("int64_t", "rule_code", rule.code, rule.code_size);
    return Struct("OpwrightShapeRule", "rule",
                  StrCat(rule.kind, ", ", rule.num_args, ", ", arg_list, ", ",
                         CInt64(rule.code_size), ", ", code, ", ", rule.leading_any, ", 0, ",
                         CString(rule.text != nullptr ? rule.text : "")));
  }

  std::string Gradient(const OpwrightGradient& gradient) {
    std::vector<std::string> roles, outputs;
    for (int32_t i = 0; i < gradient.num_inputs; ++i)
      roles.push_back(StrCat("{", gradient.inputs[i].kind, ", ", gradient.inputs[i].index, "}"));
    for (int32_t i = 0; i < gradient.num_outputs; ++i)
      outputs.push_back(StrCat(gradient.outputs[i]));
    const std::string role_list = Array("OpwrightRole", "roles", roles);
    const std::string output_list = Array("int32_t", "gradients", outputs);
    return Struct("OpwrightGradient", "gradient",
                  StrCat(CString(gradient.op), ", ", gradient.num_inputs, ", ",
                         gradient.num_outputs, ", ", role_list, ", ", output_list));
  }

  const OpwrightOpDef& def_;
  std::string prefix_;
  std::string& out_;
  int count_ = 0;
};

std::string Note(const StubRequest& request) {
  std::vector<std::string> features;
  for (const uint32_t word : request.features) features.push_back(StrCat(word, "u"));
  return StrCat(
      "__attribute__((section(OPWRIGHT_NOTE_SECTION), used, aligned(4))) static const OpwrightNote "
      "opwright_note = {\n"
      "    9, sizeof(OpwrightNote) - offsetof(OpwrightNote, struct_size), OPWRIGHT_NOTE_TYPE, "
      "OPWRIGHT_NOTE_NAME,\n"
      "    sizeof(OpwrightNote) - offsetof(OpwrightNote, struct_size), OPWRIGHT_ABI_MAJOR, "
      "OPWRIGHT_ABI_MINOR,\n"
      "    sizeof(OpwrightTensor), sizeof(OpwrightCall), sizeof(OpwrightOpDef), ",
      CString(request.march), ", ", CString(request.opwright_version), ", {", Join(features, ", "),
      "}};\n");
}

// What each framework's loader needs of one operator: functions that carry its number, where the
// framework's callbacks carry no data of ours.

std::string TorchFunctions(int index) {
  std::string text;
  for (const char* name : {"call", "guard"})
    text +=
        StrCat("static void opwright_torch_", name, "_", index,
               "(uint64_t* stack, uint64_t num_args, uint64_t num_results) {\n  opwright_torch_",
               name, "(", index, ", stack, num_args, num_results);\n}\n");
  return text;
}

// For MindSpore's loader, by the operator's own name: no name of the C library is one (MD012).
std::string MindSporeFunctions(int index, const std::string& name) {
  return StrCat(
      "__attribute__((visibility(\"default\"))) int opwright_mindspore_call_", index,
      "(int n, void** params, int* ndims, int64_t** shapes, const char** dtypes, void* stream, "
      "void* extra) __asm__(\"",
      name, "\");\nint opwright_mindspore_call_", index,
      "(int n, void** params, int* ndims, int64_t** shapes, const char** dtypes, void* stream, "
      "void* extra) {\n  const OpwrightAotCall call = {n, params, ndims, shapes, dtypes, extra};\n"
      "  (void)stream;\n  return opwright_mindspore_call(",
      index,
      ", &call);\n}\n"
      "__attribute__((visibility(\"default\"))) OpwrightVector opwright_mindspore_infer_",
      index, "(int* ndims, int64_t** shapes, void* extra) __asm__(\"", name,
      "InferShape\");\nOpwrightVector opwright_mindspore_infer_", index,
      "(int* ndims, int64_t** shapes, void* extra) {\n  return opwright_mindspore_infer(", index,
      ", ndims, shapes, extra);\n}\n");
}

}  // namespace

// Its own names start with opwright_, as no operator's does (MD012).
std::string StubText(const StubRequest& request) {
  std::string out =
      "// Generated by Opwright.\n#include <stddef.h>\n#include \"opwright/stub.h\"\n\n";
  std::vector<std::string> entries, stubs;
  for (size_t i = 0; i < request.operators.size(); ++i) {
    const StubOperator& op = request.operators[i];
    const int index = static_cast<int>(i);
    const std::string def = op.def != nullptr ? "&" + DefWriter(*op.def, index, &out).Write() : "0";
    const std::string kernel = StrCat(kTablePrefix, op.name);
    out += StrCat("extern __attribute__((visibility(\"hidden\"))) const OpwrightKernel ", kernel,
                  ";\n");
    out += StrCat(
        "static const OpwrightOperatorEntry opwright_entry_", index,
        " = {sizeof(OpwrightOperatorEntry), &", kernel, ", ", def,
        ", &opwright_entry_create,\n    &opwright_entry_compute, &opwright_entry_infer_shape};\n");
    out += TorchFunctions(index);
    if (op.def != nullptr) out += MindSporeFunctions(index, op.name);
    entries.push_back(StrCat("&opwright_entry_", index));
    stubs.push_back(StrCat("{&opwright_entry_", index, ", &opwright_torch_call_", index,
                           ", &opwright_torch_guard_", index, "}"));
  }
  const bool any = !entries.empty();
  if (any) {
    out += StrCat("static const OpwrightStubOperator opwright_stub_operators[] = {",
                  Join(stubs, ", "), "};\n");
    out += StrCat("static const OpwrightOperatorEntry* const opwright_operators[] = {",
                  Join(entries, ", "), "};\n");
    out +=
        "static const OpwrightFramework* const opwright_frameworks[] = "
        "{&opwright_framework_torch};\n";
    out += StrCat("const OpwrightStub opwright_stub = {", entries.size(),
                  ", opwright_stub_operators};\n");
  }
  out += Note(request);
  out += StrCat(
      "__attribute__((visibility(\"default\"))) const OpwrightLibrary opwright_library = {\n"
      "    sizeof(OpwrightLibrary), OPWRIGHT_ABI_MAJOR, OPWRIGHT_ABI_MINOR, ",
      CString(request.opwright_version), ", ", CString(request.compiler), ",\n    ",
      CString(request.march), ", ", entries.size(),
      any ? ", 1, opwright_operators, opwright_frameworks};\n" : ", 0, 0, 0};\n");
  return out;
}

std::vector<std::string> StubExports(const StubRequest& request) {
  std::vector<std::string> names = {OPWRIGHT_LIBRARY_SYMBOL};
  for (const StubOperator& op : request.operators) {
    if (op.def == nullptr) continue;
    names.push_back(op.name);
    names.push_back(op.name + "InferShape");
  }
  return names;
}

}  // namespace opwright::build

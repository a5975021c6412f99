// SPDX-License-Identifier: Apache-2.0
#include "build/wrapper.h"

#include <algorithm>

#include "base/text.h"
#include "build/c_text.h"
#include "build/symbols.h"
#include "build/token.h"

namespace opwright::build {
namespace {

using metadef::Attr;
using metadef::AttrType;
using metadef::Operator;
using metadef::Param;
using metadef::ParamType;

// The C++ type behind a dtype's canonical name.
std::string ElementType(const std::string& dtype) {
  if (dtype == "float32") return "float";
  if (dtype == "float64") return "double";
  if (dtype == "bool") return "bool";
  if (dtype == "float16" || dtype == "bfloat16") return "::opwright::" + dtype;
  if (dtype == "complex64") return "float _Complex";
  if (dtype == "complex128") return "double _Complex";
  return dtype + "_t";
}

std::string AttributeType(AttrType type) {
  switch (type) {
    case AttrType::kInt:
      return "int64_t";
    case AttrType::kFloat:
      return "double";
    case AttrType::kBool:
      return "bool";
    case AttrType::kString:
    case AttrType::kType:
      return "const char*";
    case AttrType::kListInt:
    case AttrType::kListBool:
      return "::opwright::List<int64_t>";
    case AttrType::kListFloat:
      return "::opwright::List<double>";
    case AttrType::kListString:
      return "::opwright::List<const char*>";
    case AttrType::kListListInt:
      break;
  }
  return "::opwright::List<OpwrightAttr>";
}

// One argument that a function kernel is called with.
struct Argument {
  std::string name;
  std::string type;
  std::string value;  // of it in the generated code
};

std::vector<Argument> Arguments(const Operator& op, int column) {
  std::vector<Argument> arguments;
  const auto add = [&](const Param& param, std::string_view kind, std::string_view constness,
                       size_t i) {
    const std::string element = ElementType(param.DType(column));
    const bool many = param.param_type == ParamType::kDynamic;
    arguments.push_back(
        {param.name, StrCat("::opwright::", many ? "ViewList<" : "View<", constness, element, ">"),
         StrCat("::opwright::detail::", kind, many ? "List<" : "View<", element, ">(call, ", i,
                ")")});
  };
  for (size_t i = 0; i < op.inputs.size(); ++i) {
    const auto index = static_cast<int32_t>(i);
    const bool written = std::find(op.mutates.begin(), op.mutates.end(), index) != op.mutates.end();
    add(op.inputs[i], written ? "Written" : "Input", written ? "" : "const ", i);
  }
  for (size_t i = 0; i < op.outputs.size(); ++i) add(op.outputs[i], "Output", "", i);
  for (size_t i = 0; i < op.attrs.size(); ++i) {
    const std::string type = AttributeType(op.attrs[i].type);
    arguments.push_back(
        {op.attrs[i].name, type, StrCat("::opwright::detail::AttrAt<", type, ">(call, ", i, ")")});
  }
  return arguments;
}

template <class Part>
std::string Listed(const std::vector<Argument>& arguments, const Part& part) {
  std::vector<std::string> parts;
  for (const Argument& argument : arguments) parts.push_back(part(argument));
  return Join(parts, ", ");
}

// "opwright::View<const float> x": as an author writes it.
std::string Written(const Argument& argument) {
  std::string type = argument.type;
  for (size_t at = 0; (at = type.find("::opwright::")) != type.npos;) type.erase(at, 2);
  return StrCat(type, " ", argument.name);
}

std::string MisfitText(const Kernel& kernel, const std::vector<Argument>& arguments) {
  const std::string marker = StrCat(kFunctionMisfit, kernel.op, ", ", kernel.function_name, "): ");
  return StrCat(marker, "by its metadef it is called as ", kernel.function_name, "(",
                Listed(arguments, Written), "), ",
                kernel.parameters.empty()
                    ? std::string("and no such function is declared before the marker")
                    : StrCat("the source has ", kernel.function_name, "(", kernel.parameters, ")"));
}

// The names of a function's parameters, "" for one without: "View<const T> x, int n = 2" has x, n.
std::vector<std::string> ParameterNames(std::string_view parameters) {
  std::vector<std::string> names;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= parameters.size(); ++i) {
    const char c = i < parameters.size() ? parameters[i] : ',';
    depth += c == '<' || c == '(' || c == '[' || c == '{'   ? 1
             : c == '>' || c == ')' || c == ']' || c == '}' ? -1
                                                            : 0;
    if (c != ',' || (depth > 0 && i < parameters.size())) continue;
    const std::string_view whole = parameters.substr(begin, i - begin);
    const std::string_view one = Trim(whole.substr(0, whole.find('=')));
    size_t at = one.size();
    while (at > 0 && IsWordPart(one[at - 1])) --at;
    names.emplace_back(at == 0 ? "" : one.substr(at));
    begin = i + 1;
  }
  return names;
}

// Arguments go by position. A function whose parameters have the metadef's names in another order
// would take one for the other.
Status CheckOrder(const Kernel& kernel, const Operator& op) {
  const std::vector<std::string> names = ParameterNames(kernel.parameters);
  std::vector<std::string> due;
  for (const Argument& argument : Arguments(op, 0)) due.push_back(argument.name);
  if (!IsReordered(names, due)) return {};
  return MakeError(
      "BD030", StrCat(kernel.file, ":", kernel.line, ": ", kFunctionMisfit, kernel.op, ", ",
                      kernel.function_name, "): the parameters of ", kernel.function_name, " are ",
                      Join(names, ", "), " and the metadef lists ", Join(due, ", "),
                      "; they go by position: give both one order, or the parameters "
                      "names of their own"));
}

// A #line: what follows is reported as the user's own line.
std::string LineOf(const Kernel& kernel) {
  std::string file;
  for (const char c : kernel.file) file += c == '\\' ? std::string("\\\\") : std::string(1, c);
  return StrCat("#line ", kernel.line, " \"", file, "\"\n");
}

// What the instances of a function kernel are made for, as constants; returns the signature's name.
std::string Signature(const Operator& op, std::string* out) {
  std::vector<std::string> kinds;
  std::vector<std::string> dtypes;
  std::vector<std::string> attr_types;
  for (const std::vector<Param>* list : {&op.inputs, &op.outputs}) {
    for (const Param& param : *list) {
      kinds.push_back(StrCat(static_cast<int>(param.param_type)));
      for (int column = 0; column < op.num_columns; ++column)
        dtypes.push_back(
            StrCat("::opwright::detail::DTypeOf<", ElementType(param.DType(column)), ">::kValue"));
    }
  }
  for (const Attr& attr : op.attrs) attr_types.push_back(StrCat(static_cast<int>(attr.type)));
  const auto array = [&](std::string_view type, std::string_view what,
                         const std::vector<std::string>& values) -> std::string {
    if (values.empty()) return "nullptr";
    const std::string name = StrCat("opwright_", what, "_", op.name);
    *out += StrCat("static constexpr ", type, " ", name, "[] = {", Join(values, ", "), "};\n");
    return name;
  };
  const std::string kind_array = array("int32_t", "kinds", kinds);
  const std::string dtype_array = array("OpwrightDType", "dtypes", dtypes);
  const std::string type_array = array("int32_t", "attr_types", attr_types);
  const std::string name = "opwright_signature_" + op.name;
  *out += StrCat("static constexpr OpwrightSignature ", name, " = {sizeof(OpwrightSignature), ",
                 op.num_columns, ", ", op.inputs.size(), ", ", op.outputs.size(), ", ",
                 op.attrs.size(), ", ", kind_array, ", ", dtype_array, ", ", type_array, "};\n");
  return name;
}

// Calls the function for one column. A template, so that a function that does not fit is not called
// at all, and the assertion is the only error: of the first column that does not fit.
std::string ColumnCall(const Kernel& kernel, const Operator& op, int column) {
  const auto takes = [](const std::vector<Argument>& list) {
    return StrCat("decltype(Function::template Fits<",
                  Listed(list, [](const Argument& argument) { return argument.type; }),
                  ">(0))::kValue");
  };
  // An attribute's parameter has its very type: int64_t would become int without a word.
  const auto fits = [&](int c) {
    std::vector<Argument> list = Arguments(op, c);
    std::string text = StrCat("(", takes(list));
    for (size_t k = list.size() - op.attrs.size(); k < list.size(); ++k) {
      const std::string type = list[k].type;
      if (type.starts_with("::opwright::List<")) continue;
      list[k].type = StrCat("::opwright::detail::Other<", type, ">");
      text += StrCat(" && !(", takes(list));
      list[k].type = "::opwright::detail::Anything";
      text += StrCat(" && !", takes(list), ")");
      list[k].type = type;
    }
    return text + ")";
  };
  const std::vector<Argument> arguments = Arguments(op, column);
  const std::string line = LineOf(kernel);
  return StrCat(line, "template <class Function> static int32_t opwright_column_", kernel.op, "_",
                column, "(const OpwrightCall* call) {\n", line, "  static_assert(", fits(column),
                column > 0 ? StrCat(" || !", fits(column - 1)) : std::string(), ", ",
                CString(MisfitText(kernel, arguments)), ");\n", line, "  if constexpr (",
                fits(column), ") return ::opwright::detail::Report(call, Function::Call(",
                Listed(arguments, [](const Argument& argument) { return argument.value; }),
                "));\n  else return 1;\n}\n");
}

// The table of a function kernel. Every column gets the marker's own line, so that what does not
// fit is reported there.
std::string FunctionTable(const Kernel& kernel, const Operator& op) {
  const std::string line = LineOf(kernel);
  std::string out = line;
  const std::string signature = Signature(op, &out);
  for (int column = 0; column < op.num_columns; ++column) out += ColumnCall(kernel, op, column);
  out += StrCat(line, "static int32_t opwright_compute_", kernel.op,
                "(void*, const OpwrightCall* call) {\n  switch (call->column) {\n");
  for (int column = 0; column < op.num_columns; ++column)
    out += StrCat("    case ", column, ":\n", line, "      return opwright_column_", kernel.op, "_",
                  column, "<", kernel.target, "::opwright_function_", kernel.op, ">(call);\n");
  out += StrCat(
      "    default:\n      throw ::opwright::KernelError(\"column %d is not in the metadef\", "
      "call->column);\n"
      "  }\n}\nextern \"C\" {\nextern __attribute__((visibility(\"hidden\"))) const "
      "OpwrightKernel ",
      kTablePrefix, kernel.op, ";\nconst OpwrightKernel ", kTablePrefix, kernel.op,
      " = {sizeof(OpwrightKernel), \"", kernel.op, "\", nullptr, nullptr, &opwright_compute_",
      kernel.op, ", nullptr, 1, 0, &", signature, "};\n}\n");
  return out;
}

}  // namespace

Expected<std::string> WrapperText(const std::string& source, const std::vector<Kernel>& kernels,
                                  const std::vector<Operator>& operators) {
  if (source.find_first_of("\"\n") != source.npos)
    return MakeError("BD001", StrCat("the path ", source,
                                     " holds a quote or a line end, which no compiler takes: "
                                     "rename the file or its folder"));
  std::string out = StrCat("#include \"", source, "\"\n");
  for (const Kernel& kernel : kernels) {
    if (!kernel.function) {
      if (kernel.marked) continue;
      out += StrCat(LineOf(kernel), "OPWRIGHT_KERNEL(", kernel.op, ", ", kernel.target, ")\n");
      continue;
    }
    const auto op =
        std::find_if(operators.begin(), operators.end(),
                     [&](const Operator& candidate) { return candidate.name == kernel.op; });
    if (op == operators.end())
      return MakeError(
          "BD023",
          StrCat(kernel.file, ":", kernel.line, ": OPWRIGHT_FUNCTION(", kernel.op,
                 ", ...) needs the metadef to know its dtypes and attributes: give the .json "
                 "file, or write a class kernel"));
    OPWRIGHT_RETURN_IF_ERROR(CheckOrder(kernel, *op));
    out += FunctionTable(kernel, *op);
  }
  return out;
}

}  // namespace opwright::build

// SPDX-License-Identifier: Apache-2.0
#include "build/plan.h"

#include <algorithm>
#include <cctype>

#include "base/file.h"
#include "base/text.h"
#include "build/symbols.h"
#include "build/wrapper.h"
#include "metadef/reserved.h"

namespace opwright::build {
namespace {

Diagnostic ErrorAt(std::string_view id, const std::string& file, int line, std::string message,
                   std::string hint) {
  Diagnostic d;
  d.id = id;
  d.file = file;
  d.line = line;
  d.message = std::move(message);
  d.hint = std::move(hint);
  return d;
}

std::string ClassName(std::string_view op) {
  std::string name;
  bool upper = true;
  for (const char c : op) {
    if (c == '_') {
      upper = true;
    } else {
      name += upper ? static_cast<char>(std::toupper(static_cast<unsigned char>(c))) : c;
      upper = false;
    }
  }
  return name + "Kernel";
}

// The answer to a source that is written for a device.
Diagnostic OtherDialect(const std::string& source, const SourceScan& scan) {
  const std::string op = scan.dialect_kernel.empty() ? "op_name" : SnakeCase(scan.dialect_kernel);
  const std::string named =
      scan.dialect_kernel.empty() ? "" : StrCat(" (", scan.dialect_kernel, ")");
  const std::string instead =
      StrCat("write class ", ClassName(op),
             " : public OpKernelBase with Compute, or a function over views and "
             "OPWRIGHT_FUNCTION(",
             op, ", f), in a .cpp file");
  switch (scan.dialect) {
    case Dialect::kAscendC:
      return ErrorAt("BD005", source, scan.dialect_line,
                     StrCat("this is Ascend C", named, ", see ", scan.dialect_sign,
                            ": it is compiled by CANN for Ascend processors, and not here, where "
                            "kernels are C++ for "
                            "the CPU"),
                     instead);
    case Dialect::kCuda:
      return ErrorAt(
          "BD005", source, scan.dialect_line,
          StrCat(
              "this is CUDA", named, ", see ", scan.dialect_sign,
              ": it is compiled by nvcc for GPUs, and not here, where kernels are C++ for the CPU"),
          instead);
    case Dialect::kOpenCl:
    case Dialect::kCpp:
      break;
  }
  return ErrorAt(
      "BD004", source, scan.dialect_line,
      StrCat(
          "this is OpenCL C", named,
          scan.dialect_sign.empty() ? "" : StrCat(", see ", scan.dialect_sign),
          ": it is compiled by a device's driver, and not here, where kernels are C++ for the CPU"),
      instead);
}

// A class where OPWRIGHT_FUNCTION wants a function, or the other way round: of it the compiler says
// much, and nothing of the cause.
Diagnostic OtherMarker(const std::string& source, const ScannedMarker& marker) {
  const auto text = [&](bool function) {
    return StrCat(function ? "OPWRIGHT_FUNCTION(" : "OPWRIGHT_KERNEL(", marker.op, ", ",
                  marker.target, ")");
  };
  return ErrorAt("BD031", source, marker.line,
                 StrCat(text(marker.function), ": ", marker.target,
                        marker.function ? " is a class" : " is a function"),
                 StrCat("write ", text(!marker.function)));
}

// One error of many: a single problem speaks for itself, several come under a heading.
Error Together(std::vector<Diagnostic> problems, std::string heading) {
  const std::string id = problems[0].id;
  if (problems.size() == 1) {
    const Diagnostic& only = problems[0];
    std::string text = only.file;
    if (only.line > 0) text += StrCat(":", only.line);
    if (!text.empty()) text += ": ";
    text += only.message;
    if (!only.hint.empty()) text += StrCat("; ", only.hint);
    return MakeError(id, std::move(text));
  }
  Error error = MakeError(id, std::move(heading));
  error.diagnostics = std::move(problems);
  return error;
}

class Planner {
 public:
  explicit Planner(const Request& request) : request_(request) {}

  Expected<Plan> Run() {
    Expected<Inputs> inputs = CollectInputs(request_.sources, request_.allow_no_metadef);
    if (!inputs.ok()) return inputs.TakeError();
    plan_.inputs = std::move(*inputs);
    Expected<Flags> flags = ReadFlags(request_.flags, request_.march);
    if (!flags.ok()) return flags.TakeError();
    plan_.flags = std::move(*flags);
    plan_.warnings = plan_.flags.warnings;
    OPWRIGHT_RETURN_IF_ERROR(ReadMetadefs());
    OPWRIGHT_RETURN_IF_ERROR(ReadSources());
    OPWRIGHT_RETURN_IF_ERROR(Match());
    for (Unit& unit : plan_.units) {
      Expected<std::string> wrapper = WrapperText(unit.source, unit.kernels, plan_.operators);
      if (!wrapper.ok()) return wrapper.TakeError();
      unit.wrapper = std::move(*wrapper);
    }
    return std::move(plan_);
  }

 private:
  Status ReadMetadefs() {
    std::vector<Diagnostic> problems;
    for (const std::string& file : plan_.inputs.metadefs) {
      metadef::ReadResult read = metadef::ReadFile(file);
      for (Diagnostic& d : read.diagnostics)
        (d.severity == Severity::kError ? problems : plan_.warnings).push_back(std::move(d));
      for (metadef::Operator& op : read.operators) {
        const auto same = std::find_if(plan_.operators.begin(), plan_.operators.end(),
                                       [&](const auto& other) { return other.name == op.name; });
        if (same != plan_.operators.end())
          problems.push_back(ErrorAt("BD011", op.file, op.span.line,
                                     StrCat("the operator ", op.name, " has a metadef already, at ",
                                            same->file, ":", same->span.line),
                                     "remove one of them, or rename its operator"));
        else
          plan_.operators.push_back(std::move(op));
      }
    }
    if (!problems.empty()) {
      const bool duplicate = problems[0].id == "BD011";
      Error error = MakeError(
          duplicate ? "BD011" : "BD007",
          StrCat("the metadef has ", Count(static_cast<int64_t>(problems.size()), "error")));
      // A warning may be the cause: a misspelt field is one, the field that is missing an error.
      error.diagnostics = std::move(plan_.warnings);
      error.diagnostics.insert(error.diagnostics.end(), problems.begin(), problems.end());
      return error;
    }
    for (const metadef::Operator& op : plan_.operators) {
      Expected<metadef::Lowered> lowered = metadef::Lower(op, plan_.operators);
      if (!lowered.ok()) {
        Error error = MakeError("BD007", StrCat("the metadef of ", op.name,
                                                " cannot be used: ", lowered.error().message));
        error.diagnostics = lowered.error().diagnostics;
        return error;
      }
      plan_.lowered.push_back(std::move(*lowered));
    }
    return {};
  }

  Status ReadSources() {
    std::vector<Diagnostic> foreign;
    std::vector<Diagnostic> misfits;
    for (const std::string& source : plan_.inputs.sources) {
      Expected<std::string> content = ReadFile(source);
      if (!content.ok()) return WithId(content.TakeError(), "BD001");
      Unit unit;
      unit.source = source;
      unit.content = std::move(*content);
      unit.scan = ScanSource(unit.content);
      if (source.ends_with(".cl") && unit.scan.dialect == Dialect::kCpp)
        unit.scan.dialect = Dialect::kOpenCl;
      if (source.ends_with(".cu") && unit.scan.dialect == Dialect::kCpp)
        unit.scan.dialect = Dialect::kCuda;
      if (unit.scan.dialect != Dialect::kCpp) foreign.push_back(OtherDialect(source, unit.scan));
      for (const ScannedMarker& marker : unit.scan.markers)
        if (marker.is_misfit) misfits.push_back(OtherMarker(source, marker));
      unit.kernels = FindKernels(unit.scan, source);
      for (const ScannedFunction& function : unit.scan.functions)
        if (function.extern_c && function.defined && !function.is_static)
          plan_.functions.push_back(function.name);
      plan_.units.push_back(std::move(unit));
    }
    if (!foreign.empty())
      return Together(std::move(foreign), "sources that are not C++ for the CPU");
    if (!misfits.empty()) return Together(std::move(misfits), "markers of the other kind");
    return {};
  }

  const metadef::Operator* FindOperator(const std::string& name) const {
    for (const metadef::Operator& op : plan_.operators)
      if (op.name == name) return &op;
    return nullptr;
  }

  static std::string What(const Kernel& kernel) {
    if (kernel.marked)
      return StrCat(kernel.function ? "OPWRIGHT_FUNCTION(" : "OPWRIGHT_KERNEL(", kernel.op,
                    ", ...)");
    return StrCat("the class ", kernel.target.substr(2));
  }

  // Every operator has one kernel, and every kernel an operator.
  Status Match() {
    const bool bound = !plan_.inputs.metadefs.empty();
    const std::vector<Kernel> kernels = AllKernels();
    std::vector<std::string> metadefs;
    metadefs.reserve(plan_.operators.size());
    for (const metadef::Operator& op : plan_.operators) metadefs.push_back(op.name);

    std::vector<Diagnostic> problems;
    std::vector<std::string> found = NamesOf(kernels, &problems);
    FindMissingKernels(found, &problems);
    if (bound) FindMissingMetadefs(kernels, metadefs, &problems);
    if (!problems.empty()) return Disagreement(std::move(problems));
    if (found.empty() && plan_.functions.empty() && plan_.inputs.objects.empty())
      return MakeError(
          "BD022",
          StrCat("no kernel in ", JoinAnd(plan_.inputs.sources),
                 ": no class derives from OpKernelBase, no OPWRIGHT_KERNEL or "
                 "OPWRIGHT_FUNCTION marker and no extern \"C\" function is there; write class ",
                 "ElementAddKernel : public OpKernelBase for the operator element_add"));
    plan_.names = std::move(bound ? metadefs : found);
    return {};
  }

  // Those of the sources, less the classes that others derive from, and those of the objects.
  std::vector<Kernel> AllKernels() {
    std::vector<Kernel> kernels;
    for (Unit& unit : plan_.units) {
      std::erase_if(unit.kernels,
                    [&](const Kernel& kernel) { return kernel.base && !FindOperator(kernel.op); });
      kernels.insert(kernels.end(), unit.kernels.begin(), unit.kernels.end());
    }
    for (const std::string& object : plan_.inputs.objects)
      for (const std::string& symbol : DefinedSymbols(object))
        if (symbol.starts_with(kTablePrefix))
          kernels.push_back({symbol.substr(kTablePrefix.size()),
                             "::" + symbol,
                             false,
                             true,
                             false,
                             object,
                             0,
                             {},
                             {}});
    return kernels;
  }

  // The operators that have a kernel. A problem is a name that is none, or that two kernels have.
  static std::vector<std::string> NamesOf(const std::vector<Kernel>& kernels,
                                          std::vector<Diagnostic>* problems) {
    std::vector<std::string> names;
    for (const Kernel& kernel : kernels) {
      if (!metadef::IsSnakeName(kernel.op))
        problems->push_back(ErrorAt(
            "BD026", kernel.file, kernel.line, StrCat("\"", kernel.op, "\" is no operator name"),
            StrCat("write small letters, digits and _, a letter first, at most ",
                   metadef::kMaxNameLength, ": ", SnakeCase(kernel.op))));
      const auto same = std::find_if(kernels.begin(), kernels.end(),
                                     [&](const Kernel& other) { return other.op == kernel.op; });
      if (&*same != &kernel)
        problems->push_back(
            ErrorAt("BD010", kernel.file, kernel.line,
                    StrCat("the operator ", kernel.op, " has a kernel already: ", What(*same),
                           " at ", same->file, same->line > 0 ? StrCat(":", same->line) : ""),
                    "remove one of them, or name its operator with OPWRIGHT_KERNEL(name, Class)"));
      else
        names.push_back(kernel.op);
    }
    return names;
  }

  void FindMissingKernels(const std::vector<std::string>& found,
                          std::vector<Diagnostic>* problems) const {
    for (const metadef::Operator& op : plan_.operators) {
      if (std::find(found.begin(), found.end(), op.name) != found.end()) continue;
      const std::string near = Nearest(op.name, found);
      problems->push_back(ErrorAt(
          "BD008", op.file, op.span.line,
          StrCat(
              "the operator ", op.name, " has no kernel: ",
              found.empty()
                  ? StrCat(
                        "no class that derives from OpKernelBase and no marker is in the sources")
                  : StrCat("the sources have ", JoinAnd(found))),
          near.empty()
              ? StrCat("write class ", ClassName(op.name),
                       " : public OpKernelBase, or say OPWRIGHT_KERNEL(", op.name,
                       ", Class) or OPWRIGHT_FUNCTION(", op.name, ", f)")
              : StrCat("is ", near,
                       " meant? The operator is the class's name without a final Kernel, in "
                       "snake_case; OPWRIGHT_KERNEL(",
                       op.name, ", Class) says another")));
    }
  }

  void FindMissingMetadefs(const std::vector<Kernel>& kernels,
                           const std::vector<std::string>& metadefs,
                           std::vector<Diagnostic>* problems) const {
    for (const Kernel& kernel : kernels) {
      if (FindOperator(kernel.op) != nullptr) continue;
      const std::string near = Nearest(kernel.op, metadefs);
      problems->push_back(
          ErrorAt("BD009", kernel.file, kernel.line,
                  StrCat(What(kernel), " is the kernel of ", kernel.op,
                         ", which has no metadef: there are metadefs for ", JoinAnd(metadefs)),
                  near.empty() ? StrCat("add one with \"op_name\": \"", kernel.op, "\"")
                               : StrCat("is ", near, " meant?")));
    }
  }

  Error Disagreement(std::vector<Diagnostic> problems) const {
    Error error = Together(std::move(problems), "kernels and metadefs do not agree");
    for (const Unit& unit : plan_.units)
      if (unit.scan.open_brace > 0)
        error.message += StrCat("; the brace at ", unit.source, ":", unit.scan.open_brace,
                                " is never closed, and what follows it was not read");
    return error;
  }

  const Request& request_;
  Plan plan_;
};

}  // namespace

Expected<Plan> MakePlan(const Request& request) { return Planner(request).Run(); }

}  // namespace opwright::build

// SPDX-License-Identifier: Apache-2.0
//
// The frameworks and the pairs of versions that are known to be bad.
#include "base/text.h"
#include "doctor/checks.h"

namespace opwright::doctor {
namespace {

std::string Pip(const Python& python, std::string_view what) {
  return StrCat(python.program, " -m pip install ", what);
}

// Says its version, or that it is not installed, or only half. The version; "" when it cannot be
// used.
std::string AddFramework(const Python& python, const char* module, const char* name,
                         Findings* findings) {
  if (!python.answered()) return "";
  std::string version = python.VersionOf(module);
  const bool there = !python.Fact(StrCat("module ", module)).empty();
  if (version.empty() && !there) {
    Add(findings, Level::kOk, name, "not installed");
    return "";
  }
  if (!there) {
    Add(findings, Level::kError, name,
        StrCat(version, " is listed as installed, and there is no module ", module),
        Pip(python, StrCat("--force-reinstall ", module, "==", version)));
    return "";
  }
  if (version.empty()) {
    Add(findings, Level::kNote, name,
        StrCat("of unknown version, ", python.Fact(StrCat("module ", module))),
        "none is needed if it works: its package says no version");
    return "";
  }
  Add(findings, Level::kOk, name, version);
  return version;
}

}  // namespace

void CheckTorch(const Machine& machine, Findings* findings) {
  const Python& python = machine.python;
  const std::string version = AddFramework(python, "torch", "PyTorch", findings);
  if (!IsOlder(version, 2, 10)) return;
  findings->back() = {Level::kError, "PyTorch", StrCat(version, ": Opwright needs 2.10 or newer"),
                      Pip(python, "'torch>=2.10'")};
}

void CheckMindSpore(const Machine& machine, Findings* findings) {
  const Python& python = machine.python;
  const std::string version = AddFramework(python, "mindspore", "MindSpore", findings);
  if (version.empty()) return;
  const bool tested = !IsOlder(version, 2, 10) && IsOlder(version, 2, 11);
  if (!tested)
    findings->back() = {Level::kNote, "MindSpore",
                        StrCat(version, ": Opwright is tested with 2.10"),
                        StrCat(Pip(python, "mindspore==2.10.0"), " if something fails")};
  const std::string numpy = python.VersionOf("numpy");
  if (IsOlder(version, 2, 11) && !numpy.empty() && !IsOlder(numpy, 2))
    Add(findings, Level::kNote, "MindSpore, numpy",
        StrCat("MindSpore ", version, " is built for numpy 1, and this is ", numpy,
               ": the first operator of a process fails with SystemError"),
        StrCat("import opwright.mindspore first, which takes that failure away; or ",
               Pip(python, "'numpy<2'")));
  std::vector<std::string> missing;
  if (python.Fact("module decorator").empty()) missing.emplace_back("decorator");
  if (python.Fact("module attr").empty()) missing.emplace_back("attrs");
  if (!missing.empty())
    Add(findings, Level::kWarning, "MindSpore, packages",
        StrCat("no ", JoinAnd(missing),
               ": MindSpore's own Custom with func_type hybrid or akg fails (\"Response is "
               "empty.\"), then hangs"),
        Pip(python, Join(missing, " ")));
}

void CheckTensorFlow(const Machine& machine, Findings* findings) {
  AddFramework(machine.python, "tensorflow", "TensorFlow", findings);
}

void CheckJax(const Machine& machine, Findings* findings) {
  const Python& python = machine.python;
  const std::string version = AddFramework(python, "jax", "JAX", findings);
  if (version.empty()) return;
  if (python.Fact("module jaxlib").empty())
    Add(findings, Level::kError, "JAX, jaxlib", "no jaxlib: import jax fails",
        Pip(python, StrCat("'jax[cpu]==", version, "'")));
  const std::string numpy = python.VersionOf("numpy");
  if (!IsOlder(version, 0, 7) && IsOlder(numpy, 2))
    Add(findings, Level::kError, "JAX, numpy",
        StrCat("JAX ", version, " needs numpy 2, and this is ", numpy),
        python.VersionOf("mindspore").empty() ? Pip(python, "'numpy>=2'")
                                              : StrCat(Pip(python, "'jax<0.7' 'jaxlib<0.7'"),
                                                       ", which goes with MindSpore's numpy 1"));
}

void CheckOnnxRuntime(const Machine& machine, Findings* findings) {
  AddFramework(machine.python, "onnxruntime", "ONNX Runtime", findings);
}

}  // namespace opwright::doctor

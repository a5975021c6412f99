// SPDX-License-Identifier: Apache-2.0
//
// Python, numpy and the module opwright.
#include "base/file.h"
#include "base/layout.h"
#include "base/text.h"
#include "doctor/checks.h"
#include "opwright/c_api.h"

namespace opwright::doctor {
namespace {

// The last line that was printed, which names the exception.
std::string LastLine(const std::string& output) {
  const std::vector<std::string> lines = Split(Trim(output), '\n');
  std::string line(Trim(lines.empty() ? "" : lines.back()));
  if (line.starts_with("opwright-doctor\t")) return "";
  return line;
}

void AddModule(const Python& python, Findings* findings) {
  const std::string package = DirName(python.Fact("module opwright"));
  const std::string version = python.Fact("imported");
  const std::string own = DirName(Layout().lib_dir);
  const std::string install =
      StrCat(python.program, " -m pip install . in the checkout of Opwright ", opwright_version());
  if (version != opwright_version())
    return Add(findings, Level::kError, "opwright",
               StrCat(version, " in ", package, ", and this command line is ", opwright_version(),
                      " in ", own),
               StrCat(install, ", or start the command line as ", python.program, " -m opwright"));
  if (Resolved(package) != Resolved(own))
    return Add(findings, Level::kNote, "opwright",
               StrCat(version, " in ", package, ", not the one of this command line, ", own),
               StrCat("start the command line as ", python.program, " -m opwright"));
  Add(findings, Level::kOk, "opwright", StrCat(version, " in ", package));
}

}  // namespace

void CheckPython(const Machine& machine, Findings* findings) {
  const Python& python = machine.python;
  if (python.program.empty()) {
    if (!python.asked.empty())
      return Add(findings, Level::kError, "Python",
                 StrCat(python.asked, " names no Python that can be started"),
                 python.asked.starts_with("--") ? "give the path of a Python program"
                                                : "activate an environment that is there, or "
                                                  "unset VIRTUAL_ENV");
    return Add(findings, Level::kNote, "Python",
               "none: no python3 in PATH; frameworks were not looked for",
               "activate an environment, or name its Python with --python");
  }
  const std::string version = python.Fact("version");
  if (python.timed_out)
    Add(findings, Level::kError, "Python",
        StrCat(python.program, " gave no answer in time",
               python.answered() ? ": it hangs in import opwright" : ""),
        "look at what its site-packages start, or give it longer with --timeout");
  else if (version.empty())
    Add(findings, Level::kError, "Python",
        StrCat(python.program, " does not run (exit code ", python.exit_code,
               "): ", LastLine(python.output)),
        "make the environment again, or name another Python with --python");
  else if (IsOlder(version, 3, 10))
    Add(findings, Level::kError, "Python",
        StrCat(version, ", ", python.program, ": Opwright needs 3.10 or newer"),
        "make an environment with a newer Python");
  else
    Add(findings, Level::kOk, "Python", StrCat(version, ", ", python.program));
}

void CheckNumpy(const Machine& machine, Findings* findings) {
  const Python& python = machine.python;
  if (!python.answered()) return;
  const std::string version = python.VersionOf("numpy");
  const std::string install = StrCat(python.program, " -m pip install 'numpy>=1.26'");
  const bool needed = !python.Fact("module opwright").empty();
  if (needed && version.empty())
    return Add(findings, Level::kError, "numpy", "not installed; import opwright needs it",
               install);
  if (needed && IsOlder(version, 1, 26))
    return Add(findings, Level::kError, "numpy", StrCat(version, ": Opwright needs 1.26 or newer"),
               install);
  Add(findings, Level::kOk, "numpy", version.empty() ? "not installed" : version);
}

void CheckModule(const Machine& machine, Findings* findings) {
  const Python& python = machine.python;
  if (!python.answered()) return;
  if (python.Fact("module opwright").empty())
    return Add(findings, Level::kWarning, "opwright",
               StrCat("not installed for ", python.program, "; import opwright fails there"),
               StrCat("activate the environment that has it, or ", python.program,
                      " -m pip install . in the checkout of Opwright"));
  if (!python.Fact("imported").empty()) return AddModule(python, findings);
  if (python.timed_out) return;  // said of Python
  const std::string error = python.Fact("import error");
  Add(findings, Level::kError, "opwright",
      error.empty() ? StrCat("import opwright ends Python (exit code ", python.exit_code,
                             "): ", LastLine(python.output))
                    : StrCat("import opwright fails: ", error),
      error.find("nanobind_backend") != error.npos
          ? StrCat(python.program, " -m pip install 'nanobind-backend>=1.0'")
          : StrCat(python.program, " -m pip install . in the checkout of Opwright ",
                   opwright_version()));
}

}  // namespace opwright::doctor

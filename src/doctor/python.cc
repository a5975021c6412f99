// SPDX-License-Identifier: Apache-2.0
#include "doctor/python.h"

#include <cstdio>
#include <utility>

#include "base/environment.h"
#include "base/file.h"
#include "base/text.h"
#include "build/process.h"
#include "build/toolchain.h"
#include "doctor/machine.h"

namespace opwright::doctor {
namespace {

// Every fact is a line of its own, "opwright-doctor <tab> key <tab> value", among whatever else is
// printed. Runs on old Pythons too, so that they can be named. opwright comes last: what follows a
// crash is missing.
constexpr std::string_view kScript = R"py(
import os, sys

def say(key, value):
    value = " ".join(str(value).split())
    sys.stdout.write("\nopwright-doctor\t%s\t%s\n" % (key, value))
    sys.stdout.flush()

# The working folder is no place of packages: a folder "torch" in it is a project's.
sys.path[:] = [path for path in sys.path if path]
say("version", "%d.%d.%d" % sys.version_info[:3])
say("prefix", sys.prefix)
import sysconfig
say("scripts", sysconfig.get_path("scripts"))
if sys.version_info >= (3, 8):
    from importlib import metadata, util
    for module, names in (
        ("numpy", "numpy"),
        ("torch", "torch"),
        ("mindspore", "mindspore mindspore-dev"),
        ("tensorflow", "tensorflow tensorflow-cpu tf-nightly"),
        ("jax", "jax"),
        ("jaxlib", "jaxlib"),
        ("onnxruntime", "onnxruntime onnxruntime-gpu"),
        ("decorator", "decorator"),
        ("attr", "attrs"),
    ):
        for name in names.split():
            try:
                say("version " + module, metadata.version(name))
                break
            except Exception:
                pass
        try:
            spec = util.find_spec(module)
        except Exception:
            spec = None
        # Without an origin it is a mere folder of that name.
        if spec is not None and spec.origin is not None:
            say("module " + module, spec.origin)
    say("packages", "read")
    try:
        spec = util.find_spec("opwright")
    except Exception:
        spec = None
    if spec is not None and spec.origin is not None:
        say("module opwright", spec.origin)
        try:
            import opwright
            say("imported", opwright.__version__)
        except BaseException as error:
            say("import error", "%s: %s" % (type(error).__name__, error))
    if "numpy" in sys.modules:
        say("version numpy", sys.modules["numpy"].__version__)
    with open("/proc/self/maps") as maps:
        for line in maps:
            if "/libstdc++.so" in line:
                say("libstdc++", line.split(None, 5)[5])
                break
    say("end", "")
)py";

constexpr std::string_view kMark = "opwright-doctor\t";

void FindPython(const std::string& asked, Python* python) {
  if (!asked.empty()) {
    python->asked = StrCat("--python ", asked);
    python->program = build::FindProgram(asked);
  } else if (const std::string environment = EnvironmentVariable("VIRTUAL_ENV");
             !environment.empty()) {
    python->asked = StrCat("VIRTUAL_ENV ", environment);
    python->program = build::FindProgram(JoinPath(environment, "bin/python"));
  } else {
    python->program = build::FindProgram("python3");
  }
}

}  // namespace

std::string Python::Fact(std::string_view key) const {
  const auto found = facts.find(key);
  return found != facts.end() ? found->second : "";
}

std::string Python::VersionOf(std::string_view package) const {
  return Fact(StrCat("version ", package));
}

Python AskPython(const std::string& program, double seconds) {
  Python python;
  FindPython(program, &python);
  if (python.program.empty()) return python;
  build::RunOptions options;
  options.seconds = seconds;
  options.in_working_folder = true;  // for a PYTHONPATH that is relative
  Expected<build::Finished> run =
      build::RunProcess({python.program, "-c", std::string(kScript)}, options);
  if (!run.ok()) {
    python.exit_code = -1;
    python.output = run.error().message;
    return python;
  }
  python.timed_out = run->timed_out;
  python.exit_code = run->exit_code;
  python.output = run->output;
  for (const std::string& line : Split(run->output, '\n')) {
    if (!line.starts_with(kMark)) continue;
    const std::vector<std::string> parts = Split(line, '\t');
    if (parts.size() == 3) python.facts[parts[1]] = parts[2];
  }
  return python;
}

std::string PrefixOf(const std::string& program) {
  build::RunOptions options;
  options.seconds = 20;
  Expected<build::Finished> run =
      build::RunProcess({program, "-c", "import sys; print(sys.prefix)"}, options);
  return run.ok() && run->ok() ? std::string(Trim(run->output)) : "";
}

bool IsOlder(std::string_view version, int major, int minor) {
  int found_major = 0;
  int found_minor = 0;
  const std::string text(version);
  const int read = std::sscanf(text.c_str(), "%d.%d", &found_major, &found_minor);
  return read >= 1 && std::pair(found_major, found_minor) < std::pair(major, minor);
}

}  // namespace opwright::doctor

// SPDX-License-Identifier: Apache-2.0
//
// The compilers, and whether they make an operator library that loads.
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/environment.h"
#include "base/file.h"
#include "base/text.h"
#include "build/build.h"
#include "build/process.h"
#include "doctor/checks.h"
#include "registry/loader.h"

namespace opwright::doctor {
namespace {

// Of C++17 the language and the library.
constexpr std::string_view kKernel = R"(#include <opwright/kernel.h>
#include <optional>
#include <string_view>
class DoctorTrialKernel : public opwright::OpKernelBase {
 public:
  opwright::Status Compute(const opwright::OpKernelInput&, opwright::OpKernelOutput*) override {
    if constexpr (std::optional<std::string_view>("x")->size() == 1) return opwright::SUCCESS;
  }
};
)";

void AddCompiler(const Expected<build::Compiler>& compiler, const char* check, const char* variable,
                 const char* names, const char* packages, Findings* findings) {
  if (compiler.ok())
    return Add(findings, Level::kOk, check,
               StrCat(build::CommandText(compiler->command), ": ", compiler->version));
  const std::string asked = EnvironmentVariable(variable);
  if (asked.empty())
    return Add(findings, Level::kError, check, StrCat("none: no ", names, " in PATH"),
               StrCat("install one (", packages, "), or set ", variable));
  const std::string& message = compiler.error().message;
  Add(findings, Level::kError, check, message.substr(0, message.rfind("; ")),
      StrCat("unset ", variable, ", or set it to a compiler that runs"));
}

// The error's first lines, without the place of a log that is gone with the trial.
std::string Shortened(const Error& error) {
  std::string text = error.message;
  text.resize(std::min({text.size(), text.find("; the compiler's whole output"),
                        text.find("; the linker's whole output"), size_t{500}}));
  if (!error.diagnostics.empty()) text += StrCat(": ", error.diagnostics[0].message);
  return text;
}

}  // namespace

void CheckCxxCompiler(const Machine& machine, Findings* findings) {
  if (machine.trial_cache == nullptr)
    return Add(findings, Level::kError, "C++ compiler",
               "not tried: neither the cache nor the temporary folder can be written",
               "set OPWRIGHT_CACHE or TMPDIR to a folder of your own");
  AddCompiler(machine.cxx, "C++ compiler", "CXX", "c++, g++ or clang++",
              "`apt-get install g++` on Debian and Ubuntu, `dnf install gcc-c++` on Fedora",
              findings);
}

void CheckCCompiler(const Machine& machine, Findings* findings) {
  if (machine.trial_cache == nullptr) return;
  AddCompiler(machine.c, "C compiler", "CC", "cc, gcc or clang",
              "`apt-get install gcc` on Debian and Ubuntu, `dnf install gcc` on Fedora", findings);
}

void CheckLinker(const Machine& machine, Findings* findings) {
  if (!machine.cxx.ok()) return;
  std::vector<std::string> command = machine.cxx->command;
  command.emplace_back("-print-prog-name=ld");
  Expected<build::Finished> named = build::RunProcess(command);
  // No gcc or clang: the trial build decides.
  if (!named.ok() || !named->ok() || Trim(named->output).empty()) return;
  const std::string linker = build::FindProgram(std::string(Trim(named->output)));
  Expected<build::Finished> run = linker.empty() ? Expected<build::Finished>(Error())
                                                 : build::RunProcess({linker, "--version"});
  if (run.ok() && run->ok())
    return Add(findings, Level::kOk, "linker",
               StrCat(linker, ": ", Trim(Split(run->output, '\n')[0])));
  Add(findings, Level::kError, "linker",
      linker.empty()
          ? StrCat("none: the C++ compiler starts ", Trim(named->output), ", which is not there")
          : StrCat(linker, " does not run"),
      "install one: `apt-get install binutils` on Debian and Ubuntu, `dnf install binutils` on "
      "Fedora");
}

void CheckTrialBuild(const Machine& machine, Findings* findings) {
  if (!machine.cxx.ok() || !machine.c.ok()) return;
  const std::string source = JoinPath(machine.scratch->path(), "doctor_trial.cpp");
  if (!WriteFileAtomic(source, kKernel).ok()) return;
  build::Request request;
  request.sources = {source};
  request.allow_no_metadef = true;
  const auto start = std::chrono::steady_clock::now();
  Expected<build::Result> built = build::BuildIn(
      machine.trial_cache.get(), build::Toolchain{*machine.cxx, *machine.c}, request);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (!built.ok())
    return Add(findings, Level::kError, "trial build",
               StrCat(Shortened(built.error()), " [", built.error().id, "]"),
               built.error().id == "BD017"
                   ? "install Opwright again, all of it: pip install ."
                   : "set CXX and CC to compilers that have C++17 and its library");
  if (IsNoExec(built->path))  // said of the cache
    return Add(findings, Level::kOk, "trial build",
               "a C++17 kernel compiles and links; loading was not tried");
  if (Expected<LibraryHandle> loaded = LoadLibrary(built->path); !loaded.ok())
    return Add(findings, Level::kError, "trial build",
               StrCat("what is built does not load: ", Shortened(loaded.error()), " [",
                      loaded.error().id, "]"),
               "set CXX to a compiler whose libstdc++ is not newer than the one that runs here");
  char seconds[32];
  std::snprintf(seconds, sizeof seconds, "%.1f s", took.count());
  Add(findings, Level::kOk, "trial build",
      StrCat("a C++17 kernel compiles, links and loads, ", seconds));
}

void CheckCxx20(const Machine& machine, Findings* findings) {
  if (!machine.cxx.ok()) return;
  std::vector<std::string> command = machine.cxx->command;
  for (const char* word : {"-std=c++20", "-fsyntax-only", "-x", "c++", "-"})
    command.emplace_back(word);
  Expected<build::Finished> run = build::RunProcess(
      command, "#include <concepts>\n#include <span>\nint f(std::span<int> s) { return s[0]; }\n");
  if (run.ok() && run->ok()) return Add(findings, Level::kOk, "C++20", "yes");
  Add(findings, Level::kNote, "C++20", "no; only the build of Opwright itself needs it",
      "g++ 12 or newer, or clang++ 16 or newer, to build Opwright");
}

}  // namespace opwright::doctor

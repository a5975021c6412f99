// SPDX-License-Identifier: Apache-2.0
//
// Variables of the environment that change which programs and libraries are found.
#include "base/environment.h"
#include "base/file.h"
#include "base/layout.h"
#include "base/text.h"
#include "build/toolchain.h"
#include "doctor/checks.h"

namespace opwright::doctor {
namespace {

bool HasMindSpore(const Python& python) { return !python.Fact("module mindspore").empty(); }

std::string PutFirst(const std::string& scripts) {
  return StrCat("activate the environment, or put ", scripts, " first in PATH");
}

// The libstdc++ in the folder when it is another one than the compiler's, "" otherwise.
std::string OtherCxxLibrary(const Machine& machine, const std::string& folder) {
  if (machine.cxx_library.empty()) return "";
  const std::string found = Resolved(JoinPath(folder.empty() ? "." : folder, "libstdc++.so.6"));
  if (found.empty() || found == machine.cxx_library) return "";
  // The same version at another place does no harm.
  return BaseName(found) == BaseName(machine.cxx_library) && BaseName(found) != "libstdc++.so.6"
             ? ""
             : found;
}

}  // namespace

void CheckMsrun(const Machine& machine, Findings* findings) {
  const Python& python = machine.python;
  const std::string scripts = python.Fact("scripts");
  if (!HasMindSpore(python) || scripts.empty()) return;
  const std::string msrun = build::FindProgram("msrun");
  if (msrun.empty())
    return Add(findings, Level::kWarning, "msrun",
               "not in PATH: training in several processes cannot be started", PutFirst(scripts));
  // msrun starts `python`, whatever started msrun.
  const std::string started = build::FindProgram("python");
  if (started.empty())
    return Add(findings, Level::kWarning, "msrun", "starts `python`, and none is in PATH",
               PutFirst(scripts));
  if (Resolved(DirName(started)) != Resolved(scripts) &&
      Resolved(PrefixOf(started)) != Resolved(python.Fact("prefix")))
    return Add(findings, Level::kWarning, "msrun",
               StrCat("starts `python`, which is ", started, ", not ", python.program),
               PutFirst(scripts));
  if (Resolved(DirName(msrun)) != Resolved(scripts))
    return Add(findings, Level::kWarning, "msrun",
               StrCat(msrun, " is of another environment than ", python.program),
               PutFirst(scripts));
  Add(findings, Level::kOk, "msrun", StrCat(msrun, " starts ", started));
}

void CheckAotWhiteList(const Machine& machine, Findings* findings) {
  const std::string value = EnvironmentVariable("MS_CUSTOM_AOT_WHITE_LIST");
  if (value.empty() || !HasMindSpore(machine.python)) return;
  std::string folders = Layout().lib_dir;
  if (machine.cache.ok()) folders += StrCat(" and ", machine.cache->Libraries());
  Add(findings, Level::kWarning, "MS_CUSTOM_AOT_WHITE_LIST",
      StrCat("is ", value, ": MindSpore loads operator libraries from there only"),
      StrCat("unset it, or add ", folders));
}

void CheckRuntimeLibrary(const Machine& machine, Findings* findings) {
  const std::string value = EnvironmentVariable("LD_LIBRARY_PATH");
  bool told = false;
  if (!value.empty())
    for (const std::string& folder : Split(value, ':'))
      if (const std::string found = OtherCxxLibrary(machine, folder); !found.empty()) {
        told = true;
        Add(findings, Level::kWarning, "LD_LIBRARY_PATH",
            StrCat("names ", folder.empty() ? "the working folder" : folder, ", whose ", found,
                   " is loaded before the compiler's, ", machine.cxx_library),
            "take the folder out of LD_LIBRARY_PATH, or set CXX to the compiler that belongs to "
            "it");
      }
  const std::string of_python = Resolved(machine.python.Fact("libstdc++"));
  if (!told && IsOlderCxxLibrary(of_python, machine.cxx_library))
    Add(findings, Level::kWarning, "libstdc++",
        StrCat("Python runs with ", of_python, ", older than the compiler's, ", machine.cxx_library,
               ": operator libraries may not load there"),
        "update libstdc++ of that environment, or set CXX to the compiler that belongs to it");
}

void CheckPreload(const Machine& machine, Findings* findings) {
  std::string value = EnvironmentVariable("LD_PRELOAD");
  for (char& c : value)
    if (c == ' ') c = ':';
  for (const std::string& entry : Split(value, ':')) {
    if (BaseName(entry).find("libstdc++") == std::string::npos) continue;
    const std::string found = entry.find('/') != entry.npos ? Resolved(entry) : entry;
    if (!found.empty() && found == machine.cxx_library) continue;
    Add(findings, Level::kWarning, "LD_PRELOAD",
        StrCat("names ", entry,
               machine.cxx_library.empty()
                   ? ""
                   : StrCat(", and the compiler's is ", machine.cxx_library)),
        "take it out of LD_PRELOAD, or set CXX to the compiler that belongs to it");
  }
}

}  // namespace opwright::doctor

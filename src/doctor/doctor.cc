// SPDX-License-Identifier: Apache-2.0
#include "doctor/doctor.h"

#include <algorithm>

#include "doctor/checks.h"

namespace opwright::doctor {
namespace {

struct AreaOfChecks {
  const char* name;
  std::vector<Check> checks;
};

const std::vector<AreaOfChecks>& AllChecks() {
  static const auto* const all = new std::vector<AreaOfChecks>{
      {"Opwright", {CheckPackage, CheckProgram, CheckCache, CheckProcessor}},
      {"Compilers", {CheckCxxCompiler, CheckCCompiler, CheckLinker, CheckTrialBuild, CheckCxx20}},
      {"Python", {CheckPython, CheckNumpy, CheckModule}},
      {"Frameworks", {CheckTorch, CheckMindSpore, CheckTensorFlow, CheckJax, CheckOnnxRuntime}},
      {"Environment", {CheckMsrun, CheckAotWhiteList, CheckRuntimeLibrary, CheckPreload}},
  };
  return *all;
}

}  // namespace

int Report::Count(Level level) const {
  int count = 0;
  for (const Area& area : areas)
    count += static_cast<int>(
        std::count_if(area.findings.begin(), area.findings.end(),
                      [level](const Finding& finding) { return finding.level == level; }));
  return count;
}

Report Examine(const Options& options) {
  const Machine machine = LookAtMachine(options);
  Report report;
  report.python = machine.python.program;
  for (const AreaOfChecks& area : AllChecks()) {
    Area found{area.name, {}};
    for (const Check check : area.checks) check(machine, &found.findings);
    if (!found.findings.empty()) report.areas.push_back(std::move(found));
  }
  return report;
}

}  // namespace opwright::doctor

// SPDX-License-Identifier: Apache-2.0
//
// The checks: each looks at one thing of the machine and says what it found. doctor.cc has their
// order.
#pragma once

#include "doctor/finding.h"
#include "doctor/machine.h"

namespace opwright::doctor {

using Check = void (*)(const Machine& machine, Findings* findings);

// opwright_checks.cc
void CheckPackage(const Machine& machine, Findings* findings);
void CheckProgram(const Machine& machine, Findings* findings);
void CheckCache(const Machine& machine, Findings* findings);
void CheckProcessor(const Machine& machine, Findings* findings);

// compiler_checks.cc
void CheckCxxCompiler(const Machine& machine, Findings* findings);
void CheckCCompiler(const Machine& machine, Findings* findings);
void CheckLinker(const Machine& machine, Findings* findings);
void CheckTrialBuild(const Machine& machine, Findings* findings);
void CheckCxx20(const Machine& machine, Findings* findings);

// python_checks.cc
void CheckPython(const Machine& machine, Findings* findings);
void CheckNumpy(const Machine& machine, Findings* findings);
void CheckModule(const Machine& machine, Findings* findings);

// framework_checks.cc
void CheckTorch(const Machine& machine, Findings* findings);
void CheckMindSpore(const Machine& machine, Findings* findings);
void CheckTensorFlow(const Machine& machine, Findings* findings);
void CheckJax(const Machine& machine, Findings* findings);
void CheckOnnxRuntime(const Machine& machine, Findings* findings);

// environment_checks.cc
void CheckMsrun(const Machine& machine, Findings* findings);
void CheckAotWhiteList(const Machine& machine, Findings* findings);
void CheckRuntimeLibrary(const Machine& machine, Findings* findings);
void CheckPreload(const Machine& machine, Findings* findings);

}  // namespace opwright::doctor

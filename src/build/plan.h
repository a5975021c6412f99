// SPDX-License-Identifier: Apache-2.0
//
// What a build will do, before any compiler runs: which source holds which kernel, that kernels and
// metadefs agree, and the text of everything that is compiled.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "build/build.h"
#include "build/flags.h"
#include "build/inputs.h"
#include "build/kernels.h"
#include "build/source_scan.h"
#include "metadef/metadef.h"

namespace opwright::build {

// One source of the user's.
struct Unit {
  std::string source;
  std::string content;
  SourceScan scan;
  std::vector<Kernel> kernels;
  std::string wrapper;  // what is compiled for it
};

struct Plan {
  Inputs inputs;
  Flags flags;
  std::vector<Unit> units;
  std::vector<metadef::Operator> operators;
  std::vector<metadef::Lowered> lowered;  // one an operator
  std::vector<std::string> names;  // of the operators that the library has
  std::vector<std::string> functions;  // extern "C" functions that sources define: exported
  std::vector<Diagnostic> warnings;
};

Expected<Plan> MakePlan(const Request& request);

}  // namespace opwright::build

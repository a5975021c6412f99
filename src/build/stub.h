// SPDX-License-Identifier: Apache-2.0
//
// The generated C file of an operator library: the lowered metadefs as constants, the library's
// table, the ELF note, and what each framework's loader looks for.
#pragma once

#include <string>
#include <vector>

#include "base/cpu_features.h"
#include "opwright/c_api.h"

namespace opwright::build {

struct StubOperator {
  std::string name;
  const OpwrightOpDef* def = nullptr;  // null: a library without metadef
};

struct StubRequest {
  std::vector<StubOperator> operators;
  std::string compiler;
  std::string march;
  std::string opwright_version;
  CpuFeatures features = {};  // that the code may use
};

// C11, with no header but opwright/stub.h; the same bytes for the same request.
std::string StubText(const StubRequest& request);

// The symbols that the stub exports.
std::vector<std::string> StubExports(const StubRequest& request);

}  // namespace opwright::build

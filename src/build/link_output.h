// SPDX-License-Identifier: Apache-2.0
//
// What a failed link means: which symbol is missing, who needs it, and whether an extern "C" was
// meant.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "build/source_scan.h"

namespace opwright::build {

struct LinkInputs {
  std::map<std::string, std::string> sources;  // object file -> the source that it was made from
  std::vector<std::string> objects;  // all object files, archives and libraries of the link
  std::map<std::string, SourceScan> scans;  // by source
};

Error DescribeLinkFailure(std::string_view output, const LinkInputs& inputs);

}  // namespace opwright::build

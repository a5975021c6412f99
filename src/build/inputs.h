// SPDX-License-Identifier: Apache-2.0
//
// What a build is given, sorted by kind: C++ sources, objects, metadef files.
#pragma once

#include <string>
#include <vector>

#include "base/error.h"

namespace opwright::build {

struct Inputs {
  std::vector<std::string> sources;  // absolute paths, as all here
  std::vector<std::string> objects;  // .o and .a
  std::vector<std::string> metadefs;
};

// One folder, or files. The metadef of sources without a .json among them is op.json beside the
// first; when there is none, metadefs is empty if allow_no_metadef, else an error.
Expected<Inputs> CollectInputs(const std::vector<std::string>& given, bool allow_no_metadef);

}  // namespace opwright::build

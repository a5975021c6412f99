// SPDX-License-Identifier: Apache-2.0
//
// The operator that the benchmarks build, and tensors for it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "opwright/c_api.h"

namespace opwright::bench {

// element_add of float32, any rank.
std::string AddMetadef(const std::string& name = "element_add");
std::string AddSource(const std::string& class_name = "ElementAddKernel");

// Writes the sources into a folder of the build tree and builds them, or ends the program with the
// error.
std::string BuildOrDie(const std::string& folder, const std::string& metadef,
                       const std::string& source);
// The folder with these sources.
std::string WriteFolder(const std::string& folder, const std::string& metadef,
                        const std::string& source);

// x and y for element_add, and z.
struct AddTensors {
  explicit AddTensors(int64_t n);
  std::vector<float> memory;
  int64_t shape[1] = {};
  int64_t strides[1] = {1};
  OpwrightTensor tensors[3];
  OpwrightArgument inputs[2];
  OpwrightArgument outputs[1];
};

}  // namespace opwright::bench

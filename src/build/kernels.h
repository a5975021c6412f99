// SPDX-License-Identifier: Apache-2.0
//
// The kernels of a source, found in what was scanned of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "build/source_scan.h"

namespace opwright::build {

// One kernel of a source: a marked one, or a class that derives from OpKernelBase.
struct Kernel {
  std::string op;
  std::string target;  // the qualified class; for a function the scope of its marker
  bool function = false;
  bool marked = false;  // the source says OPWRIGHT_KERNEL or OPWRIGHT_FUNCTION itself
  bool base = false;  // another class of the file derives from it, so it may be no kernel
  std::string file;
  int line = 0;
  std::string function_name;  // as the marker has it
  std::string parameters;  // of the function, as far as they were seen
};

// A marker wins over the class rule, for the class it names and for the operator it names.
std::vector<Kernel> FindKernels(const SourceScan& scan, const std::string& file);

// "ElementAddKernel" -> "element_add"
std::string OperatorOfClass(std::string_view class_name);

}  // namespace opwright::build

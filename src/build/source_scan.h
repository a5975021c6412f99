// SPDX-License-Identifier: Apache-2.0
//
// Reads what a kernel source declares, without compiling it: the classes that derive from
// OpKernelBase, the OPWRIGHT_KERNEL and OPWRIGHT_FUNCTION markers, the functions at namespace
// scope, and whether the file is C++ at all. Macros are not expanded and headers are not read.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opwright::build {

enum class Dialect { kCpp, kOpenCl, kAscendC, kCuda };

// A class definition at namespace scope that is no template.
struct ScannedClass {
  std::string qualified;  // "::ns::ElementAddKernel"
  std::string name;
  std::vector<std::string> bases;  // last components: "OpKernelBase"
  int line = 0;
};

struct ScannedMarker {
  bool function = false;  // OPWRIGHT_FUNCTION, else OPWRIGHT_KERNEL
  std::string op;
  std::string target;  // as written
  std::string scope;  // "::ns", "" at global scope
  std::string parameters;  // of the function, "View<const T> x, int n"; empty when not seen
  bool is_misfit = false;  // a function where a class is due, or the other way round
  int line = 0;
};

struct ScannedFunction {
  std::string name;
  bool extern_c = false;
  bool defined = false;
  bool is_static = false;
  int line = 0;
};

struct SourceScan {
  Dialect dialect = Dialect::kCpp;
  int dialect_line = 0;  // where the sign of another dialect stands
  std::string dialect_sign;  // "__aicore__"
  std::string dialect_kernel;  // the name of the first device function, "" when not seen
  int open_brace = 0;  // the line of one that is never closed, so that what follows it is not seen
  std::vector<ScannedClass> classes;
  std::vector<ScannedMarker> markers;
  std::vector<ScannedFunction> functions;
};

SourceScan ScanSource(std::string_view text);

}  // namespace opwright::build

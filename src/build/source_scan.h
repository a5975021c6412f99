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

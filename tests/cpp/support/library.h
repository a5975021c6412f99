// SPDX-License-Identifier: Apache-2.0
//
// Operator libraries for tests: built from text, kept in the cache of the build tree, so that a
// second run compiles nothing; loaded, and called.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "registry/library.h"
#include "registry/loader.h"
#include "support/tensor.h"

namespace opwright::test {

// A folder of the build tree that stays.
std::string WorkFolder();

// The path of the library built from the sources and the metadef (a list of operators, or one).
// flags may hold an object file.
std::string BuildLibrary(const std::string& metadef, const std::string& source,
                         std::vector<std::string> flags = {});
// The same without a metadef, as aoc builds it.
std::string BuildKernels(const std::string& source);

// A shared object that gcc makes of the C source alone: no operator library.
std::string CompileObject(const std::string& c_source, const std::string& output,
                          const std::string& flags = "");

// Loads or fails the test.
std::shared_ptr<Library> LoadOrFail(const std::string& path);
// The error of a load that must fail.
std::string LoadError(const std::string& path,
                      const std::optional<std::string>& sha256 = std::nullopt);

std::shared_ptr<Operator> FindOrFail(const Library& library, const std::string& name);

// "" or the error's text.
std::string Call(Operator& op, std::vector<Arg> inputs, std::vector<Arg> outputs,
                 std::vector<OpwrightAttr> attrs = {});

// z = x * factor over float32 of any rank.
std::string ScaleMetadef(const std::string& name = "scale");
std::string ScaleSource(const std::string& factor, const std::string& class_name = "ScaleKernel");
// What a scale operator makes of x.
double CallScale(Operator& op, double x);

// The environment variable for the length of a scope.
class ScopedEnv {
 public:
  ScopedEnv(const char* name, const char* value);
  ScopedEnv(const ScopedEnv&) = delete;
  ~ScopedEnv();

 private:
  std::string name_;
  std::string old_;
  bool had_ = false;
};

}  // namespace opwright::test

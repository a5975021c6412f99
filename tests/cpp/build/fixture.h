// SPDX-License-Identifier: Apache-2.0
//
// For tests of the build: a folder, a cache and an environment of their own, and operators to
// build.
#pragma once

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "build/build.h"
#include "opwright/c_api.h"

namespace opwright::build {

// One operator of a library, called on one number.
class Loaded {
 public:
  // inputs: how many the metadef lists; all but the first are absent.
  explicit Loaded(const std::string& path, int32_t inputs = 1)
      : inputs_(static_cast<size_t>(inputs)) {
    if (OpwrightError* error = opwright_library_load(path.c_str(), nullptr, &library_)) Fail(error);
    if (library_ == nullptr) return;
    if (OpwrightError* error =
            opwright_operator_find(library_, opwright_library_operator_name(library_, 0), &op_))
      Fail(error);
  }
  ~Loaded() {
    if (op_ != nullptr) opwright_operator_release(op_);
    if (library_ != nullptr) opwright_library_close(library_);
  }
  float operator()(float x) {
    float z = -1;
    if (op_ == nullptr) return z;
    int64_t shape[1] = {1};
    OpwrightTensor in{&x, 1, 0, 1, {kOpwrightFloat, 32, 1}, shape, nullptr, 0};
    OpwrightTensor out{&z, 1, 0, 1, {kOpwrightFloat, 32, 1}, shape, nullptr, 0};
    inputs_[0] = {&in, 1};
    const OpwrightArgument output{&out, 1};
    if (OpwrightError* error = opwright_operator_call(
            op_, inputs_.data(), static_cast<int32_t>(inputs_.size()), &output, 1, nullptr, 0))
      Fail(error);
    return z;
  }

 private:
  static void Fail(OpwrightError* error) {
    ADD_FAILURE() << error->message;
    error->destroy(error);
  }
  OpwrightLibraryHandle* library_ = nullptr;
  OpwrightOperator* op_ = nullptr;
  std::vector<OpwrightArgument> inputs_;
};

class BuildFixture : public testing::Test {
 protected:
  BuildFixture() : folder_(std::move(*TempFolder::Make())) {
    SetEnv("OPWRIGHT_CACHE", Path("cache"));
    for (const char* name : {"CXX", "CC", "MAX_JOBS", "CPATH"}) SetEnv(name, std::nullopt);
  }
  ~BuildFixture() override {
    for (const auto& [name, value] : saved_) Apply(name, value);
  }

  std::string Path(const std::string& name) const { return JoinPath(folder_.path(), name); }

  void Write(const std::string& name, const std::string& text, int mode = 0644) {
    ASSERT_TRUE(MakeFolders(DirName(Path(name))).ok());
    ASSERT_TRUE(WriteFileAtomic(Path(name), text, mode).ok());
  }

  void SetEnv(const std::string& name, const std::optional<std::string>& value) {
    const char* old = getenv(name.c_str());
    saved_.emplace(name, old != nullptr ? std::optional<std::string>(old) : std::nullopt);
    Apply(name, value);
  }

  // A class kernel of one float32 input and output that multiplies by the expression.
  static std::string Source(const std::string& factor, const std::string& includes = "") {
    return StrCat(
        "#include <opwright/kernel.h>\n", includes,
        "\nclass ScaleKernel : public opwright::OpKernelBase {\n public:\n"
        "  opwright::Status Compute(const opwright::OpKernelInput& in, opwright::OpKernelOutput* "
        "out) override {\n"
        "    const auto& x = in.GetTensor(0);\n    float* z = out->GetTensor(0)->Data<float>();\n"
        "    for (int64_t i = 0; i < x.Size(); ++i) z[i] = x.Data<float>()[i] * (",
        factor, ");\n    return opwright::SUCCESS;\n  }\n};\n");
  }
  static std::string Metadef(const std::string& name = "scale", const std::string& more = "") {
    return StrCat("{\"op_name\": \"", name, "\", \"op_type\": \"Custom\",\n",
                  " \"input_desc\": [{\"name\": \"x\", \"dtype\": [\"float32\"], \"format\": "
                  "[\"ND\"], \"shape\": [-1]}],\n"
                  " \"output_desc\": [{\"name\": \"z\", \"dtype\": [\"float32\"], \"format\": "
                  "[\"ND\"], \"shape\": [-1]}]",
                  more, "}\n");
  }
  void WriteOperator(const std::string& folder, const std::string& factor,
                     const std::string& includes = "") {
    Write(folder + "/k.cpp", Source(factor, includes));
    Write(folder + "/op.json", Metadef());
  }

  Expected<Result> BuildOf(const std::string& name, std::vector<std::string> flags = {},
                           const std::string& out = "") {
    Request request;
    request.sources = {Path(name)};
    request.flags = std::move(flags);
    if (!out.empty()) request.output = Path(out);
    return Build(request);
  }

  // The error's whole text; "" with a failure when the build succeeds.
  std::string Refused(const std::string& name, const std::string& id,
                      std::vector<std::string> flags = {}) {
    auto built = BuildOf(name, std::move(flags));
    EXPECT_FALSE(built.ok());
    if (built.ok()) return "";
    EXPECT_EQ(built.error().id, id) << built.error().Text();
    return built.error().Text();
  }
  // As aoc does.
  Expected<Result> Plain(const std::vector<std::string>& names) {
    Request request;
    for (const std::string& name : names) request.sources.push_back(Path(name));
    request.allow_no_metadef = true;
    return Build(request);
  }

  // What the operator of the folder "op" multiplies by, built now. Sets hit_.
  float Factor(const std::vector<std::string>& flags = {}) {
    auto built = BuildOf("op", flags);
    if (!built.ok()) {
      ADD_FAILURE() << built.error().Text();
      return -1;
    }
    hit_ = built->cache_hit;
    return Loaded(built->path)(1);
  }

  // A compiler that writes down each call: the number of compilations of user sources and links.
  void CountCompiler(const std::string& name = "counted") {
    Write(name,
          StrCat("#!/bin/sh\necho \"$*\" >> '", Path("calls"), "'\nexec /usr/bin/c++ \"$@\"\n"),
          0755);
    SetEnv("CXX", Path(name));
  }
  int Compilations() const { return Calls(" -c "); }
  int Links() const { return Calls("-shared"); }
  int Calls(const std::string& word) const {
    const Expected<std::string> text = ReadFile(Path("calls"));
    int count = 0;
    if (text.ok())
      for (const std::string& line : Split(*text, '\n'))
        count += !line.empty() && line.find(word) != line.npos;
    return count;
  }

  bool hit_ = false;

 private:
  static void Apply(const std::string& name, const std::optional<std::string>& value) {
    if (value.has_value()) {
      setenv(name.c_str(), value->c_str(), 1);
    } else {
      unsetenv(name.c_str());
    }
  }

  TempFolder folder_;
  std::map<std::string, std::optional<std::string>> saved_;
};

#define ASSERT_BUILT(result) ASSERT_TRUE((result).ok()) << (result).error().Text()
#define EXPECT_SAYS(text, words) EXPECT_NE((text).find(words), std::string::npos) << (text)

}  // namespace opwright::build

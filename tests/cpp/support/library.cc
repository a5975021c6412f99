// SPDX-License-Identifier: Apache-2.0
#include "support/library.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "base/sha256.h"
#include "base/text.h"
#include "build/build.h"

namespace opwright::test {
namespace {

// Handles that stay open until the process ends, as a user's would.
std::map<std::string, LibraryHandle>& OpenHandles() {
  static auto* const handles = new std::map<std::string, LibraryHandle>;
  return *handles;
}

std::string BuildFolder(const std::string& metadef, const std::string& source,
                        std::vector<std::string> flags) {
  const std::string folder = JoinPath(
      WorkFolder(), StrCat("src-", Sha256Hex(StrCat(metadef, "\n//\n", source)).substr(0, 16)));
  EXPECT_TRUE(MakeFolders(folder).ok());
  const auto write = [&](const std::string& name, const std::string& text) {
    const std::string path = JoinPath(folder, name);
    const Expected<std::string> old = ReadFile(path);
    if (old.ok() && *old == text) return path;
    EXPECT_TRUE(WriteFileAtomic(path, text).ok());
    return path;
  };
  build::Request request;
  const std::string kernel = write("kernel.cpp", source);
  if (metadef.empty()) {
    request.sources = {kernel};
    request.allow_no_metadef = true;
  } else {
    const std::string json = write("op.json", metadef);
    request.sources = {folder};
    for (const std::string& flag : flags)
      if (flag.ends_with(".o")) request.sources = {kernel, json, flag};
  }
  std::erase_if(flags, [](const std::string& flag) { return flag.ends_with(".o"); });
  request.flags = std::move(flags);
  Expected<build::Result> built = build::Build(request);
  if (!built.ok()) {
    ADD_FAILURE() << built.error().Text();
    return "";
  }
  return built->path;
}

}  // namespace

std::string WorkFolder() {
  EXPECT_TRUE(MakeFolders(OPWRIGHT_TEST_WORK).ok());
  return OPWRIGHT_TEST_WORK;
}

std::string BuildLibrary(const std::string& metadef, const std::string& source,
                         std::vector<std::string> flags) {
  return BuildFolder(metadef, source, std::move(flags));
}

std::string BuildKernels(const std::string& source) { return BuildFolder("", source, {}); }

std::string CompileObject(const std::string& c_source, const std::string& output,
                          const std::string& flags) {
  const std::string source = output + ".c";
  EXPECT_TRUE(MakeFolders(DirName(output)).ok());
  EXPECT_TRUE(WriteFileAtomic(source, c_source).ok());
  const std::string command = StrCat("cc -shared -fPIC -o '", output, "' '", source, "' ", flags);
  EXPECT_EQ(system(command.c_str()), 0) << command;
  return output;
}

std::shared_ptr<Library> LoadOrFail(const std::string& path) {
  Expected<LibraryHandle> handle = LoadLibrary(path);
  if (!handle.ok()) {
    ADD_FAILURE() << handle.error().Text();
    return nullptr;
  }
  std::shared_ptr<Library> library = handle->shared();
  OpenHandles().emplace(library->identity(), std::move(*handle));
  return library;
}

std::string LoadError(const std::string& path, const std::optional<std::string>& sha256) {
  const Expected<LibraryHandle> handle = LoadLibrary(path, sha256);
  return handle.ok() ? "loaded" : handle.error().Text();
}

std::shared_ptr<Operator> FindOrFail(const Library& library, const std::string& name) {
  Expected<std::shared_ptr<Operator>> op = library.Get(name);
  if (!op.ok()) {
    ADD_FAILURE() << op.error().Text();
    return nullptr;
  }
  return *op;
}

std::string Call(Operator& op, std::vector<Arg> inputs, std::vector<Arg> outputs,
                 std::vector<OpwrightAttr> attrs) {
  std::vector<OpwrightArgument> in = RawOf(inputs);
  std::vector<OpwrightArgument> out = RawOf(outputs);
  CallArguments arguments;
  arguments.inputs = in.data();
  arguments.num_inputs = static_cast<int32_t>(in.size());
  arguments.outputs = out.data();
  arguments.num_outputs = static_cast<int32_t>(out.size());
  arguments.attrs = attrs.data();
  arguments.num_attrs = static_cast<int32_t>(attrs.size());
  const Status status = op.Call(arguments);
  return status.ok() ? "" : status.error().Text();
}

std::string ScaleMetadef(const std::string& name) {
  return StrCat(
      "{\"op_name\": \"", name,
      "\", \"input_desc\": [{\"name\": \"x\", \"dtype\": [\"float32\"], \"shape\": [-2]}],"
      " \"output_desc\": [{\"name\": \"z\", \"dtype\": [\"float32\"], \"shape\": [-2]}]}");
}

std::string ScaleSource(const std::string& factor, const std::string& class_name) {
  return StrCat(
      "#include <opwright/kernel.h>\n\nclass ", class_name,
      " : public opwright::OpKernelBase {\n public:\n"
      "  opwright::Status Compute(const opwright::OpKernelInput& in, opwright::OpKernelOutput* "
      "out) override {\n"
      "    const auto& x = in.GetTensor(0);\n    float* z = out->GetTensor(0)->Data<float>();\n"
      "    for (int64_t i = 0; i < x.Size(); ++i) z[i] = x.Data<float>()[i] * (",
      factor, ");\n    return opwright::SUCCESS;\n  }\n};\n");
}

double CallScale(Operator& op, double x) {
  Tensor in(kF32, {1}, {x});
  Tensor out(kF32, {1}, {-1});
  EXPECT_EQ(Call(op, {in}, {out}), "");
  return out.Values()[0];
}

ScopedEnv::ScopedEnv(const char* name, const char* value) : name_(name) {
  if (const char* old = getenv(name)) {
    had_ = true;
    old_ = old;
  }
  if (value != nullptr)
    setenv(name, value, 1);
  else
    unsetenv(name);
}

ScopedEnv::~ScopedEnv() {
  if (had_)
    setenv(name_.c_str(), old_.c_str(), 1);
  else
    unsetenv(name_.c_str());
}

}  // namespace opwright::test

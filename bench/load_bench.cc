// SPDX-License-Identifier: Apache-2.0
//
// Loading a thousand operators, a build that finds its result in the cache, and an edit until its
// result.
#include <benchmark/benchmark.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "bench/operators.h"
#include "build/build.h"
#include "registry/loader.h"

namespace opwright::bench {

std::string AddMetadef(const std::string& name) {
  const auto tensor = [](const char* name) {
    return StrCat("{\"name\": \"", name,
                  "\", \"dtype\": [\"float32\"], \"format\": [\"ND\"], \"shape\": [-2]}");
  };
  return StrCat("{\"op_name\": \"", name, "\", \"op_type\": \"Custom\", \"input_desc\": [",
                tensor("x"), ", ", tensor("y"), "], \"output_desc\": [", tensor("z"), "]}");
}

std::string AddSource(const std::string& class_name) {
  return StrCat("#include <opwright/kernel.h>\n\nclass ", class_name,
                " : public opwright::OpKernelBase {\n public:\n"
                "  opwright::Status Compute(const opwright::OpKernelInput& in, "
                "opwright::OpKernelOutput* out) override {\n"
                "    const int64_t n = in.GetTensor(0).Size();\n"
                "    const float* x = in.GetTensor(0).Data<float>();\n    const float* y = "
                "in.GetTensor(1).Data<float>();\n"
                "    float* z = out->GetTensor(0)->Data<float>();\n"
                "    for (int64_t i = 0; i < n; ++i) z[i] = x[i] + y[i];\n    return "
                "opwright::SUCCESS;\n  }\n};\n");
}

std::string WriteFolder(const std::string& name, const std::string& metadef,
                        const std::string& source) {
  const std::string folder = JoinPath(OPWRIGHT_BENCH_WORK, name);
  const bool written = MakeFolders(folder).ok() &&
                       WriteFileAtomic(folder + "/op.json", metadef).ok() &&
                       WriteFileAtomic(folder + "/kernel.cpp", source).ok();
  if (!written) abort();
  return folder;
}

std::string BuildOrDie(const std::string& name, const std::string& metadef,
                       const std::string& source) {
  build::Request request;
  request.sources = {WriteFolder(name, metadef, source)};
  Expected<build::Result> built = build::Build(request);
  if (built.ok()) return built->path;
  fprintf(stderr, "%s\n", built.error().Text().c_str());
  exit(1);
}

AddTensors::AddTensors(int64_t n) : memory(static_cast<size_t>(3 * n), 1.0f), shape{n} {
  for (int k = 0; k < 3; ++k)
    tensors[k] = {memory.data() + k * n, 1, 0, 1, {kOpwrightFloat, 32, 1}, shape, strides, 0};
  inputs[0] = {&tensors[0], 1};
  inputs[1] = {&tensors[1], 1};
  outputs[0] = {&tensors[2], 1};
}

namespace {

// `libraries` libraries that hold a thousand operators together: one is built, the others are
// copies with a marker patched, which makes them other contents.
void LoadAThousandOperators(benchmark::State& state) {
  const auto libraries = static_cast<int>(state.range(0));
  const int each = 1000 / libraries;
  std::string metadefs = "[";
  std::string source =
      "#include <opwright/kernel.h>\nextern \"C\" __attribute__((used)) const volatile char "
      "bench_marker[] = \"bench-marker-000000000\";\n"
      "struct Mark : opwright::OpKernelBase {\n"
      "  opwright::Status Compute(const opwright::OpKernelInput&, opwright::OpKernelOutput* out) "
      "override {\n"
      "    *out->GetTensor(0)->Data<float>() = bench_marker[13];\n    return opwright::SUCCESS;\n  "
      "}\n};\n";
  for (int k = 0; k < each; ++k) {
    metadefs += StrCat(k > 0 ? "," : "", AddMetadef(StrCat("mark_", k)));
    source += StrCat("OPWRIGHT_KERNEL(mark_", k, ", Mark)\n");
  }
  const std::string bytes =
      *ReadFile(BuildOrDie(StrCat("load_", libraries), metadefs + "]", source));
  const size_t at = bytes.find("bench-marker-") + 13;
  static int next = 100000000;
  for (auto _ : state) {
    state.PauseTiming();
    const TempFolder folder = std::move(*TempFolder::Make(OPWRIGHT_BENCH_WORK));
    std::vector<std::string> paths;
    for (int k = 0; k < libraries; ++k) {
      std::string other = bytes;
      other.replace(at, 9, StrCat(next++));
      paths.push_back(JoinPath(folder.path(), StrCat("lib", k, ".so")));
      if (!WriteFileAtomic(paths.back(), other).ok()) abort();
    }
    state.ResumeTiming();
    for (const std::string& path : paths)
      if (!LoadLibrary(path).ok()) abort();
    state.PauseTiming();
    std::filesystem::remove_all(folder.path());
    state.ResumeTiming();
  }
}
BENCHMARK(LoadAThousandOperators)
    ->Arg(1)
    ->Arg(100)
    ->Arg(1000)
    ->Iterations(3)
    ->Unit(benchmark::kMillisecond);

void BuildFromTheCache(benchmark::State& state) {
  BuildOrDie("cached", AddMetadef(), AddSource());
  build::Request request;
  request.sources = {JoinPath(OPWRIGHT_BENCH_WORK, "cached")};
  for (auto _ : state) {
    const Expected<build::Result> built = build::Build(request);
    if (!built.ok() || !built->cache_hit) state.SkipWithError("no cache hit");
  }
}
BENCHMARK(BuildFromTheCache)->Unit(benchmark::kMillisecond);

// A line of the kernel is changed; the library is built, loaded and called.
void EditToResult(benchmark::State& state) {
  static int64_t edit = static_cast<int64_t>(
      std::filesystem::file_time_type::clock::now().time_since_epoch().count());
  for (auto _ : state) {
    const std::string path =
        BuildOrDie("edited", AddMetadef(),
                   StrCat(AddSource(), "// edit ", ++edit, "\nstatic const int64_t kEdit = ", edit,
                          ";\nextern const int64_t* const edit_pointer;\nconst int64_t* const "
                          "edit_pointer = &kEdit;\n"));
    const LibraryHandle library = *LoadLibrary(path);
    AddTensors t(8);
    CallArguments arguments;
    arguments.inputs = t.inputs;
    arguments.num_inputs = 2;
    arguments.outputs = t.outputs;
    arguments.num_outputs = 1;
    if (!library->Find("element_add")->Call(arguments).ok()) abort();
  }
}
BENCHMARK(EditToResult)->Unit(benchmark::kMillisecond)->UseRealTime();

}  // namespace
}  // namespace opwright::bench

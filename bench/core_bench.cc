// SPDX-License-Identifier: Apache-2.0
//
// What one call costs in C++ and in C, next to the kernel alone; inference; reading a metadef.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "base/file.h"
#include "base/text.h"
#include "bench/operators.h"
#include "metadef/metadef.h"
#include "opwright/view.h"
#include "registry/loader.h"

namespace opwright::bench {
namespace {

Operator& ElementAdd() {
  static const LibraryHandle library =
      *LoadLibrary(BuildOrDie("element_add", AddMetadef(), AddSource()));
  static const std::shared_ptr<Operator> op = library->Find("element_add");
  return *op;
}

void CallFromCxx(benchmark::State& state) {
  Operator& op = ElementAdd();
  AddTensors t(state.range(0));
  CallArguments arguments;
  arguments.inputs = t.inputs;
  arguments.num_inputs = 2;
  arguments.outputs = t.outputs;
  arguments.num_outputs = 1;
  for (auto _ : state) {
    const Status status = op.Call(arguments);
    if (!status.ok()) state.SkipWithError(status.error().Text().c_str());
  }
}
BENCHMARK(CallFromCxx)->Arg(8)->Arg(1024);

void CallFromC(benchmark::State& state) {
  OpwrightLibraryHandle* library = nullptr;
  OpwrightOperator* op = nullptr;
  const std::string path = ElementAdd().library().path();
  if (opwright_library_load(path.c_str(), nullptr, &library) != nullptr) abort();
  if (opwright_operator_find(library, "element_add", &op) != nullptr) abort();
  AddTensors t(state.range(0));
  for (auto _ : state)
    if (opwright_operator_call(op, t.inputs, 2, t.outputs, 1, nullptr, 0) != nullptr) abort();
  opwright_operator_release(op);
  opwright_library_close(library);
}
BENCHMARK(CallFromC)->Arg(8);

// The kernel's own function on tensors that are ready for it: what no dispatcher can undercut.
void KernelAlone(benchmark::State& state) {
  Operator& op = ElementAdd();
  AddTensors t(state.range(0));
  OpwrightCall call = {};
  call.struct_size = sizeof call;
  call.def = &op.def();
  call.inputs = t.inputs;
  call.outputs = t.outputs;
  call.num_inputs = 2;
  call.num_outputs = 1;
  void* const instance = *op.Instance();
  for (auto _ : state)
    if (op.entry().kernel->compute(instance, &call) != 0) abort();
}
BENCHMARK(KernelAlone)->Arg(8)->Arg(1024);

void InferShapes(benchmark::State& state) {
  Operator& op = ElementAdd();
  AddTensors t(8);
  CallArguments arguments;
  arguments.inputs = t.inputs;
  arguments.num_inputs = 2;
  for (auto _ : state) {
    Arena arena(nullptr);
    InferredOutput output;
    if (!op.Infer(arguments, &output, arena).ok()) abort();
    benchmark::DoNotOptimize(output);
  }
}
BENCHMARK(InferShapes);

void ReadMetadef(benchmark::State& state) {
  const std::string text = AddMetadef();
  for (auto _ : state) {
    metadef::ReadResult result = metadef::Read(text, "op.json");
    if (result.HasErrors()) abort();
    benchmark::DoNotOptimize(result);
  }
}
BENCHMARK(ReadMetadef)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace opwright::bench

int main(int argc, char** argv) {
  if (!opwright::MakeFolders(OPWRIGHT_BENCH_WORK "/cache", 0700).ok()) return 2;
  setenv("OPWRIGHT_CACHE", OPWRIGHT_BENCH_WORK "/cache", 1);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 1;
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

// SPDX-License-Identifier: Apache-2.0
//
// Building and checking from Python.
#include "base/cache_folder.h"
#include "bind.h"
#include "build/build.h"
#include "check/check.h"

namespace opwright::python {
namespace {

// The report as text for people and as JSON.
template <class Check>
nb::tuple Checked(const Check& run) {
  Expected<check::Report> report = [&] {
    const nb::gil_scoped_release release;
    return run();
  }();
  const check::Report made = ValueOrRaise(std::move(report));
  return nb::make_tuple(check::RenderText(made), check::RenderJson(made));
}

}  // namespace

void InitTools(nb::module_& m) {
  m.def(
      "cache_folder", [](const std::string& below) { return ValueOrRaise(CacheFolder(below)); },
      "A folder of the cache, made if needed.");
  m.def(
      "build",
      [](const std::vector<std::string>& sources, const std::string& output,
         const std::string& march, const std::vector<std::string>& flags, bool allow_no_metadef) {
        build::Request request;
        request.sources = sources;
        request.output = output;
        request.march = march;
        request.flags = flags;
        request.allow_no_metadef = allow_no_metadef;
        Expected<build::Result> result = [&] {
          const nb::gil_scoped_release release;
          return build::Build(request);
        }();
        const build::Result built = ValueOrRaise(std::move(result));
        return nb::make_tuple(built.path, RenderAll(built.warnings));
      },
      nb::arg("sources"), nb::arg("output"), nb::arg("march"), nb::arg("flags"),
      nb::arg("allow_no_metadef"), "Builds an operator library: its path, and warnings.");

  m.def(
      "check_path",
      [](const std::string& path, const std::string& op, uint64_t seed, double timeout) {
        return Checked([&] { return check::CheckLibrary(path, {seed, op, timeout}); });
      },
      nb::arg("path"), nb::arg("op"), nb::arg("seed"), nb::arg("timeout"));
  m.def(
      "check_library",
      [](PyLibrary& self, const std::string& op, uint64_t seed, double timeout) {
        const LibraryHandle library = self.open();
        return Checked([&] { return check::CheckLibrary(*library, {seed, op, timeout}); });
      },
      nb::arg("library"), nb::arg("op"), nb::arg("seed"), nb::arg("timeout"));
  m.def(
      "check_operator",
      [](PyOperator& self, uint64_t seed, double timeout) {
        return Checked([&]() -> Expected<check::Report> {
          check::Report report;
          report.path = self.library().path();
          report.seed = seed;
          report.operators.push_back(check::CheckOperator(*self.op, {seed, "", timeout}));
          return report;
        });
      },
      nb::arg("operator"), nb::arg("seed"), nb::arg("timeout"));
}

}  // namespace opwright::python

// SPDX-License-Identifier: Apache-2.0
//
// Building and checking from Python.
#include "base/cache_folder.h"
#include "bind.h"
#include "build/build.h"
#include "check/check.h"

namespace opwright::python {

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

  // Both return the report as text for people and as JSON.
  m.def(
      "check_library",
      [](const std::string& path, const std::string& op, uint64_t seed, double timeout) {
        Expected<check::Report> report = [&] {
          const nb::gil_scoped_release release;
          return check::CheckLibrary(path, {seed, op, timeout});
        }();
        const check::Report made = ValueOrRaise(std::move(report));
        return nb::make_tuple(check::RenderText(made), check::RenderJson(made));
      },
      nb::arg("path"), nb::arg("op"), nb::arg("seed"), nb::arg("timeout"));
  m.def(
      "check_operator",
      [](PyOperator& self, uint64_t seed, double timeout) {
        check::Report report;
        report.path = self.library().path();
        report.seed = seed;
        {
          const nb::gil_scoped_release release;
          report.operators.push_back(check::CheckOperator(*self.op, {seed, "", timeout}));
        }
        return nb::make_tuple(check::RenderText(report), check::RenderJson(report));
      },
      nb::arg("operator"), nb::arg("seed"), nb::arg("timeout"));
}

}  // namespace opwright::python

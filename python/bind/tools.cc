// SPDX-License-Identifier: Apache-2.0
//
// Building and validating from Python.
#include "bind.h"
#include "build/build.h"
#include "metadef/metadef.h"

namespace opwright::python {

void InitTools(nb::module_& m) {
  m.def(
      "build",
      [](const std::vector<std::string>& sources, const std::string& output, const std::string& march,
         const std::vector<std::string>& flags) {
        build::Request request;
        request.sources = sources;
        request.output = output;
        request.march = march;
        request.flags = flags;
        Expected<build::Result> result = [&] {
          const nb::gil_scoped_release release;
          return build::Build(request);
        }();
        const build::Result built = ValueOrRaise(std::move(result));
        std::vector<std::string> warnings;
        for (const Diagnostic& warning : built.warnings) warnings.push_back(Render(warning));
        return nb::make_tuple(built.path, built.cache_hit, warnings);
      },
      nb::arg("sources"), nb::arg("output"), nb::arg("march"), nb::arg("flags"),
      "Builds an operator library: its path, whether it came from the cache, warnings.");
}

}  // namespace opwright::python

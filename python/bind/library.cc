// SPDX-License-Identifier: Apache-2.0
//
// Libraries and operators as Python objects.
#include "attr_value.h"
#include "base/dtype.h"
#include "base/text.h"
#include "bind.h"
#include "build/build.h"
#include "registry/loader.h"
#include "registry/tokens.h"
#include "runtime/gradient.h"

namespace opwright::python {
namespace {

PyOperator FindOperator(PyLibrary& library, const std::string& name) {
  LibraryHandle& handle = library.open();
  return {library.claim, ValueOrRaise(handle->Get(name))};
}

// The kernel's code is behind a framework's own entry: registers the operators there. ns "": each
// operator's own namespace. Returns the namespace, or None when the framework is not in the
// process.
nb::object EnterFramework(PyLibrary& library, const std::string& framework, const std::string& ns) {
  const OpwrightLibrary& raw = library.open()->raw();
  for (int32_t i = 0; i < raw.num_frameworks; ++i) {
    const OpwrightFramework& entry = *raw.frameworks[i];
    if (entry.name != framework) continue;
    char message[2048] = "";
    const int32_t result = entry.enter(ns.empty() ? nullptr : ns.c_str(), message, sizeof message);
    if (result == 1) return nb::none();
    if (result != 0)
      Raise(MakeError("RG010", StrCat(library.open()->path(), " cannot register in ", framework,
                                      ": ", message)));
    return nb::str(entry.entered());
  }
  Raise(MakeError("RG010", StrCat(library.open()->path(), " has no entry for ", framework)));
}

}  // namespace

void InitLibrary(nb::module_& m) {
  nb::class_<PyOperator>(m, "Operator")
      .def_prop_ro("name", [](PyOperator& self) { return std::string(self.op->name()); })
      .def_prop_ro("has_metadef", [](PyOperator& self) { return self.op->has_metadef(); })
      .def_prop_ro("json",
                   [](PyOperator& self) {
                     return std::string(self.op->has_metadef() ? self.op->def().json : "");
                   })
      .def_prop_ro("library_path", [](PyOperator& self) { return self.library().path(); })
      .def_prop_ro("identity", [](PyOperator& self) { return self.library().identity(); })
      .def_prop_ro(
          "no_gradient", [](PyOperator& self) { return self.op->NoGradientText(); },
          "The words of GR001, where there is no backward operator.")
      .def(
          "missing_gradient",
          [](PyOperator& self, int32_t input) {
            return MissingGradientText(self.op->def(), input, self.op->gradient()->op);
          },
          "The words of GR002 for an input.")
      .def(
          "lost_gradient",
          [](PyOperator& self, int32_t output) {
            return LostGradientText(self.op->def(), output, self.op->gradient()->op);
          },
          "The words of GR023 for an output.")
      .def_prop_ro(
          "is_bound",
          [](PyOperator& self) { return self.library().Find(self.op->name()) != self.op; },
          "Whether its metadef is not its library's own.")
      .def_prop_ro(
          "key", [](PyOperator& self) { return self.op->number(); },
          "One number for each operator in this process.")
      .def_prop_ro(
          "token", [](PyOperator& self) { return TokenOf(self.op); },
          "A number for the content of the operator and its gradient, the same in every process.")
      .def_prop_ro(
          "backward",
          [](PyOperator& self) -> nb::object {
            Operator* backward = self.op->backward();
            if (backward == nullptr) return nb::none();
            // Shares the owner of the forward operator, which holds the backward one.
            return nb::cast(PyOperator{self.claim, std::shared_ptr<Operator>(self.op, backward)});
          })
      .def_prop_ro(
          "backward_key",
          [](PyOperator& self) {
            const Operator* backward = self.op->backward();
            return backward == nullptr ? 0 : backward->number();
          },
          "The key of the backward operator, 0 without one.")
      .def("infer_numpy",
           [](PyOperator& self, nb::handle args, nb::handle kwargs) {
             return InferNumpy(self, args.ptr(), kwargs.ptr());
           })
      .def(
          "check_usable", [](PyOperator& self) { RaiseIfError(self.op->CheckUsable()); },
          "Raises what a call would, when the library is closed.")
      .def("call_numpy_for_gradient", &CallNumpyForGradient)
      .def_prop_ro("call_numpy", [](nb::handle self) { return NumpyCaller(self); });

  nb::class_<PyLibrary>(m, "Library")
      .def_prop_ro("path", [](PyLibrary& self) { return self.open()->path(); })
      .def_prop_ro("identity", [](PyLibrary& self) { return self.open()->identity(); })
      .def_prop_ro("warnings", [](PyLibrary& self) { return self.open()->warnings(); })
      .def_prop_ro("operators", [](PyLibrary& self) { return self.open()->OperatorNames(); })
      .def_prop_ro("is_open", [](PyLibrary& self) { return self.claim->handle.has_value(); })
      .def("find", &FindOperator)
      .def("enter", &EnterFramework)
      .def("close", [](PyLibrary& self) { self.claim->handle.reset(); });

  m.def(
      "load",
      [](const std::string& path, const std::optional<std::string>& sha256) {
        Expected<LibraryHandle> handle = [&] {
          const nb::gil_scoped_release release;
          return LoadLibrary(path, sha256);
        }();
        return PyLibrary{ValueOrRaise(std::move(handle))};
      },
      nb::arg("path"), nb::arg("sha256").none());
  m.def(
      "load_folder",
      [](const std::string& path, const std::optional<std::string>& sha256) {
        std::vector<std::string> remarks;
        Expected<LibraryHandle> handle = [&]() -> Expected<LibraryHandle> {
          const nb::gil_scoped_release release;
          build::Request request;
          request.sources = {path};
          Expected<build::Result> built = build::Build(request);
          if (!built.ok()) return built.TakeError();
          remarks = RenderAll(built->warnings);
          return LoadLibrary(built->path, sha256);
        }();
        return nb::make_tuple(PyLibrary{ValueOrRaise(std::move(handle))}, remarks);
      },
      nb::arg("path"), nb::arg("sha256").none(),
      "Builds an operator folder and loads it: the library, and the warnings of the build.");
  m.def("loaded", [] {
    std::vector<PyLibrary> open;
    for (const auto& library : LoadedLibraries()) open.emplace_back(LibraryHandle(library));
    return open;
  });
}

}  // namespace opwright::python

// SPDX-License-Identifier: Apache-2.0
//
// What the topics of opwright._core share.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "registry/library.h"

namespace opwright::python {

namespace nb = nanobind;

// Raises the Python exception of the error's area: opwright._errors makes it.
[[noreturn]] void Raise(const Error& error);

inline void RaiseIfError(Status status) {
  if (!status.ok()) Raise(status.error());
}
template <class T>
T ValueOrRaise(Expected<T> expected) {
  if (!expected.ok()) Raise(expected.error());
  return std::move(*expected);
}

inline std::vector<std::string> RenderAll(const std::vector<Diagnostic>& diagnostics) {
  std::vector<std::string> texts;
  for (const Diagnostic& each : diagnostics) texts.push_back(Render(each));
  return texts;
}

// A library that Python holds open until close() empties the handle. A Library object and the
// operators taken from it share one: they keep it open when the object is dropped, and close with
// it.
struct Claim {
  explicit Claim(LibraryHandle opened) : library(opened.shared()), handle(std::move(opened)) {}
  std::shared_ptr<Library> library;
  std::optional<LibraryHandle> handle;
};

// A handle that Python may close.
struct PyLibrary {
  std::shared_ptr<Claim> claim;

  explicit PyLibrary(LibraryHandle handle) : claim(std::make_shared<Claim>(std::move(handle))) {}
  LibraryHandle& open() {
    if (!claim->handle.has_value())
      Raise(MakeError("CL014", StrCat("this handle of ", claim->library->path(),
                                      " was closed; load the library again")));
    return *claim->handle;
  }
};

struct PyOperator {
  std::shared_ptr<Claim> claim;
  std::shared_ptr<Operator> op;

  const Library& library() const { return *claim->library; }
};

void InitErrors(nb::module_& m);
void InitLibrary(nb::module_& m);
void InitNumpy(nb::module_& m);
void InitDef(nb::module_& m);
void InitMemory(nb::module_& m);
void InitAcl(nb::module_& m);
void InitTools(nb::module_& m);

// What calls an operator on numpy arrays and Python numbers; NotImplemented when an argument is
// neither. A plain function of C: a call of a few elements is shorter than a pass through nanobind.
// Takes a tuple and a dict, from this package alone, and checks nothing of that.
nb::object NumpyCaller(nb::handle op);
// Of each output by name: the shapes of its tensors.
using PassedShapes = std::map<std::string, std::vector<std::vector<int64_t>>>;
// The same for a backward operator: outputs not wanted (empty: all are), shapes that it asks for.
nb::object CallNumpyForGradient(PyOperator& op, const nb::tuple& args, const nb::dict& kwargs,
                                const std::vector<bool>& wanted, const PassedShapes& shapes);
// A list of (shape, dtype), one for each output tensor.
nb::object InferNumpy(PyOperator& op, PyObject* args, PyObject* kwargs);

}  // namespace opwright::python

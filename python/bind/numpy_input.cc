// SPDX-License-Identifier: Apache-2.0
#include "numpy_input.h"

#include <cstring>

#include "base/text.h"
#include "numpy_array.h"
#include "runtime/staging.h"

namespace opwright::python {
namespace {

std::string DTypeText(PyObject* array) {
  const nb::object dtype = nb::handle(array).attr("dtype");
  return nb::cast<std::string>(nb::steal(PyObject_Str(dtype.ptr())));
}

}  // namespace

void InputTaker::RequireOwnMemory(int32_t i) {
  if (Mutates(def_, i))
    Raise(MakeError("CL008", StrCat(def_.name, ": input ", def_.inputs[i]->name,
                                    " is written by the operator: it must be a writeable numpy "
                                    "array of plain memory, in this machine's byte order")));
}

bool InputTaker::Take(int32_t i, PyObject* value, OpwrightTensor* tensor) {
  const ArrayFit fit = ViewArray(value, tensor, arena_);
  if (fit != ArrayFit::kNoArray) {
    if (IsMasked(value))
      Raise(MakeError("CL007", StrCat(def_.name, ": input ", def_.inputs[i]->name,
                                      " has masked elements, of which a kernel knows nothing; "
                                      "pass filled(value) of it, or data")));
    if (def_.num_mutates > 0 && !IsWriteable(value)) RequireOwnMemory(i);
    if (fit == ArrayFit::kOk) return true;
    if (fit == ArrayFit::kNeedsCopy) return TakeCopy(i, value, tensor);
    Raise(MakeError("CL002", StrCat(def_.name, ": input ", def_.inputs[i]->name, " has dtype ",
                                    DTypeText(value), ", which no operator takes")));
  }
  // numpy's float64 is a Python float by inheritance, and has a dtype all the same.
  const bool number = PyFloat_Check(value) || PyLong_Check(value);
  if (number &&
      (PyFloat_CheckExact(value) || PyLong_Check(value) || !PyObject_HasAttrString(value, "dtype")))
    return TakeNumber(i, value, tensor);
  if (PyObject_HasAttrString(value, "__array_interface__") &&
      PyObject_HasAttrString(value, "dtype") && !PyObject_HasAttrString(value, "__dlpack__"))
    return TakeScalar(i, value, tensor);
  return false;
}

bool InputTaker::TakeCopy(int32_t i, PyObject* value, OpwrightTensor* tensor) {
  RequireOwnMemory(i);
  const nb::object native = nb::handle(value).attr("dtype").attr("newbyteorder")("=");
  const nb::object plain = nb::module_::import_("numpy").attr("array")(nb::handle(value), native,
                                                                       nb::arg("order") = "C");
  kept_.push_back(plain);
  return ViewArray(plain.ptr(), tensor, arena_) == ArrayFit::kOk;
}

bool InputTaker::TakeScalar(int32_t i, PyObject* value, OpwrightTensor* tensor) {
  RequireOwnMemory(i);
  nb::object array = nb::module_::import_("numpy").attr("asarray")(nb::handle(value));
  kept_.push_back(array);
  return ViewArray(array.ptr(), tensor, arena_) == ArrayFit::kOk;
}

bool InputTaker::TakeNumber(int32_t i, PyObject* value, OpwrightTensor* tensor) {
  RequireOwnMemory(i);
  *tensor = {};
  tensor->device_type = 1;
  tensor->data = arena_.Make<int64_t>(1);
  if (PyFloat_Check(value)) {
    const double number = PyFloat_AsDouble(value);
    memcpy(tensor->data, &number, sizeof number);
    tensor->dtype = {kOpwrightFloat, 64, 0};
    return true;
  }
  const int64_t number = PyLong_AsLongLong(value);
  if (number == -1 && PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    Raise(MakeError("CL002", StrCat(def_.name, ": the number for input ", def_.inputs[i]->name,
                                    " does not fit int64")));
  }
  memcpy(tensor->data, &number, sizeof number);
  tensor->dtype = {static_cast<uint8_t>(PyBool_Check(value) ? kOpwrightBool : kOpwrightInt), 64, 0};
  return true;
}

}  // namespace opwright::python

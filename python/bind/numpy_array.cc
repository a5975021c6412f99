// SPDX-License-Identifier: Apache-2.0
#include "numpy_array.h"

#include <numpy/arrayobject.h>

#include <cstdlib>
#include <cstring>
#include <iterator>

#include "base/dtype.h"
#include "runtime/strided.h"

namespace opwright::python {
namespace nb = nanobind;

void ImportNumpy() {
  if (PyArray_ImportNumPyAPI() < 0) throw nb::python_error();
}

bool IsOfNumpy(PyObject* object) {
  return PyArray_Check(object) || PyArray_IsScalar(object, Generic);
}

bool IsMasked(PyObject* array) {
  if (PyArray_CheckExact(array)) return false;
  return nb::cast<bool>(nb::module_::import_("numpy.ma").attr("is_masked")(nb::handle(array)));
}

bool IsWriteable(PyObject* array) {
  return PyArray_ISWRITEABLE(reinterpret_cast<PyArrayObject*>(array));
}

namespace {

// bfloat16 is a user type, of the package ml_dtypes.
bool IsBfloat16(PyArray_Descr* descr) {
  if (descr->type_num < NPY_USERDEF || PyDataType_ELSIZE(descr) != 2) return false;
  const nb::object name = nb::getattr(reinterpret_cast<PyObject*>(descr), "name", nb::none());
  return nb::isinstance<nb::str>(name) && strcmp(nb::cast<nb::str>(name).c_str(), "bfloat16") == 0;
}

// numpy's numbers for the commonest types, in their order from NPY_BOOL on.
constexpr OpwrightDType kFirstDTypes[] = {
    {kOpwrightBool, 8, 1},  {kOpwrightInt, 8, 1},  {kOpwrightUInt, 8, 1},  {kOpwrightInt, 16, 1},
    {kOpwrightUInt, 16, 1}, {kOpwrightInt, 32, 1}, {kOpwrightUInt, 32, 1}, {kOpwrightInt, 64, 1},
    {kOpwrightUInt, 64, 1}, {kOpwrightInt, 64, 1}, {kOpwrightUInt, 64, 1}, {kOpwrightFloat, 32, 1},
    {kOpwrightFloat, 64, 1}};
static_assert(std::size(kFirstDTypes) == NPY_DOUBLE + 1 && sizeof(npy_long) == 8);

OpwrightDType DTypeOf(PyArray_Descr* descr) {
  if (static_cast<size_t>(descr->type_num) < std::size(kFirstDTypes))
    return kFirstDTypes[descr->type_num];
  const auto bits = static_cast<uint8_t>(PyDataType_ELSIZE(descr) * 8);
  switch (descr->kind) {
    case 'f':
      return bits <= 64 ? OpwrightDType{kOpwrightFloat, bits, 1} : OpwrightDType{255, bits, 1};
    case 'i':
      return {kOpwrightInt, bits, 1};
    case 'u':
      return {kOpwrightUInt, bits, 1};
    case 'b':
      return {kOpwrightBool, 8, 1};
    case 'c':
      return bits <= 128 ? OpwrightDType{kOpwrightComplex, bits, 1} : OpwrightDType{255, bits, 1};
    default:
      return IsBfloat16(descr) ? OpwrightDType{kOpwrightBfloat, 16, 1}
                               : OpwrightDType{255, bits, 1};
  }
}

int TypeNumber(OpwrightDType dtype) {
  const auto pick = [&](int b8, int b16, int b32, int b64) {
    return dtype.bits == 8 ? b8 : dtype.bits == 16 ? b16 : dtype.bits == 32 ? b32 : b64;
  };
  switch (dtype.code) {
    case kOpwrightInt:
      return pick(NPY_INT8, NPY_INT16, NPY_INT32, NPY_INT64);
    case kOpwrightUInt:
      return pick(NPY_UINT8, NPY_UINT16, NPY_UINT32, NPY_UINT64);
    case kOpwrightFloat:
      return pick(NPY_NOTYPE, NPY_FLOAT16, NPY_FLOAT32, NPY_FLOAT64);
    case kOpwrightComplex:
      return dtype.bits == 64 ? NPY_COMPLEX64 : NPY_COMPLEX128;
    default:
      return NPY_BOOL;
  }
}

// A new reference; null with an error set.
PyArray_Descr* DescrOf(OpwrightDType dtype) {
  if (dtype.code != kOpwrightBfloat) return PyArray_DescrFromType(TypeNumber(dtype));
  nb::object type;
  try {
    type = nb::module_::import_("ml_dtypes").attr("bfloat16");
  } catch (nb::python_error& error) {
    error.restore();
    return nullptr;
  }
  PyArray_Descr* descr = nullptr;
  PyArray_DescrConverter(type.ptr(), &descr);
  return descr;
}

}  // namespace

ArrayFit ViewArray(PyObject* object, OpwrightTensor* tensor, Arena& arena) {
  if (!PyArray_Check(object)) return ArrayFit::kNoArray;
  auto* array = reinterpret_cast<PyArrayObject*>(object);
  tensor->dtype = DTypeOf(PyArray_DESCR(array));
  if (tensor->dtype.code == 255) return ArrayFit::kUnknownDType;
  if (!PyArray_ISNOTSWAPPED(array)) return ArrayFit::kNeedsCopy;
  const int ndim = PyArray_NDIM(array);
  const npy_intp item = ItemSize(tensor->dtype);
  static_assert(sizeof(npy_intp) == sizeof(int64_t));
  tensor->data = PyArray_DATA(array);
  tensor->device_type = 1;
  tensor->device_id = 0;
  tensor->ndim = ndim;
  tensor->shape = reinterpret_cast<int64_t*>(PyArray_DIMS(array));
  tensor->byte_offset = 0;
  tensor->strides = arena.Make<int64_t>(ndim);
  if (PyArray_IS_C_CONTIGUOUS(array)) {  // whatever numpy says of dimensions of size 1
    DenseStrides(ndim, tensor->shape, tensor->strides);
    return ArrayFit::kOk;
  }
  for (int k = 0; k < ndim; ++k) {
    const npy_intp bytes = PyArray_STRIDES(array)[k];
    if (bytes % item != 0) return ArrayFit::kNeedsCopy;
    tensor->strides[k] = bytes / item;
  }
  return ArrayFit::kOk;
}

PyObject* NewArray(OpwrightDType dtype, int32_t ndim, const int64_t* shape) {
  PyArray_Descr* descr = DescrOf(dtype);
  if (descr == nullptr) return nullptr;
  const auto bytes = static_cast<size_t>(NumElements(ndim, shape) * ItemSize(dtype));
  void* memory = aligned_alloc(64, bytes / 64 * 64 + 64);
  if (memory == nullptr) {
    Py_DECREF(descr);
    return PyErr_NoMemory();
  }
  PyObject* owner = PyCapsule_New(
      memory, nullptr, [](PyObject* capsule) { free(PyCapsule_GetPointer(capsule, nullptr)); });
  if (owner == nullptr) {
    free(memory);
    Py_DECREF(descr);
    return nullptr;
  }
  // Takes the reference to descr.
  PyObject* array =
      PyArray_NewFromDescr(&PyArray_Type, descr, ndim, reinterpret_cast<const npy_intp*>(shape),
                           nullptr, memory, NPY_ARRAY_CARRAY, nullptr);
  if (array == nullptr) {
    Py_DECREF(owner);
    return nullptr;
  }
  PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(array), owner);
  return array;
}

}  // namespace opwright::python

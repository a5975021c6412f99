// SPDX-License-Identifier: Apache-2.0
//
// numpy arrays as tensors of the core, and new ones for outputs. The only file set that sees
// numpy's C interface.
#pragma once

#include <nanobind/nanobind.h>

#include "opwright/c_api.h"
#include "runtime/arena.h"

namespace opwright::python {

// Loads numpy's C interface. Throws nb::python_error when numpy is missing.
void ImportNumpy();

enum class ArrayFit { kOk, kNeedsCopy, kUnknownDType, kNoArray };
// Fills the tensor from the array; shape is the array's, strides are in the arena. kNeedsCopy:
// foreign byte order, or strides that are no multiple of the item.
ArrayFit ViewArray(PyObject* object, OpwrightTensor* tensor, Arena& arena);

bool IsWriteable(PyObject* array);

// Whether it is an array or a number of numpy.
bool IsOfNumpy(PyObject* object);

// Whether some elements of an array are masked, of which a kernel would know nothing.
bool IsMasked(PyObject* array);

// A new array with memory aligned to 64 bytes; null with a Python error set.
PyObject* NewArray(OpwrightDType dtype, int32_t ndim, const int64_t* shape);

}  // namespace opwright::python

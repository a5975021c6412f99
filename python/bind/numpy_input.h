// SPDX-License-Identifier: Apache-2.0
//
// A Python value as the tensor of an input: an array, a number, a scalar of numpy.
#pragma once

#include <vector>

#include "bind.h"
#include "runtime/arena.h"

namespace opwright::python {

// Of one call. What it makes lives as long as it does.
class InputTaker {
 public:
  InputTaker(const OpwrightOpDef& def, Arena& arena) : def_(def), arena_(arena) {}

  // False: the value is of another framework. Raises for one that is none of the operator's.
  bool Take(int32_t input, PyObject* value, OpwrightTensor* tensor);

 private:
  // Of an input that the operator writes: what stands in for it would take the changes with it.
  void RequireOwnMemory(int32_t input);
  // Of foreign byte order or odd strides: a plain copy of the same values.
  bool TakeCopy(int32_t input, PyObject* value, OpwrightTensor* tensor);
  // A numpy scalar is a 0-d array.
  bool TakeScalar(int32_t input, PyObject* value, OpwrightTensor* tensor);
  bool TakeNumber(int32_t input, PyObject* value, OpwrightTensor* tensor);

  const OpwrightOpDef& def_;
  Arena& arena_;
  std::vector<nb::object> kept_;
};

}  // namespace opwright::python

// SPDX-License-Identifier: Apache-2.0
//
// The outputs of a call on numpy arrays, as new arrays.
#pragma once

#include <vector>

#include "bind.h"
#include "runtime/arena.h"
#include "runtime/launch.h"

namespace opwright::python {

class NumpyOutputs final : public OutputAllocator {
 public:
  NumpyOutputs(const OpwrightOpDef& def, Arena& arena) : def_(def), arena_(arena) {}
  NumpyOutputs(const NumpyOutputs&) = delete;
  NumpyOutputs& operator=(const NumpyOutputs&) = delete;
  ~NumpyOutputs() override {
    for (PyObject* array : arrays_) Py_DECREF(array);
  }

  // Called without the GIL.
  Status Allocate(int32_t output, int64_t index, OpwrightDType dtype, int32_t ndim,
                  const int64_t* shape, OpwrightTensor* tensor) override;

  // The arrays of one output; a list for a dynamic one, None for one that is not there.
  nb::object Take(int32_t output) const;
  bool IsSingle() const {
    return def_.num_outputs == 1 && arrays_.size() == 1 &&
           def_.outputs[0]->kind != kOpwrightDynamic;
  }
  nb::object Single() const { return nb::borrow(arrays_[0]); }

 private:
  const OpwrightOpDef& def_;
  Arena& arena_;  // of the call: what the tensors point to lives as long as it
  std::vector<PyObject*> arrays_;
  std::vector<int32_t> outputs_;
};

}  // namespace opwright::python

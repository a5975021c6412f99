// SPDX-License-Identifier: Apache-2.0
#include "numpy_outputs.h"

#include "base/text.h"
#include "numpy_array.h"
#include "runtime/strided.h"

namespace opwright::python {

Status NumpyOutputs::Allocate(int32_t output, int64_t, OpwrightDType dtype, int32_t ndim,
                              const int64_t* shape, OpwrightTensor* tensor) {
  const nb::gil_scoped_acquire gil;
  PyObject* array = NewArray(dtype, ndim, shape);
  if (array == nullptr) {
    const nb::python_error error;
    return MakeError("CL010",
                     StrCat(def_.name, ": no array for output ", def_.outputs[output]->name, " ",
                            ShapeText(ndim, shape), ": ", error.what()));
  }
  arrays_.push_back(array);
  outputs_.push_back(output);
  ViewArray(array, tensor, arena_);
  return {};
}

nb::object NumpyOutputs::Take(int32_t output) const {
  nb::list list;
  for (size_t k = 0; k < arrays_.size(); ++k)
    if (outputs_[k] == output) list.append(nb::handle(arrays_[k]));
  if (def_.outputs[output]->kind == kOpwrightDynamic) return list;
  return list.size() == 0 ? nb::none() : nb::object(list[0]);
}

}  // namespace opwright::python

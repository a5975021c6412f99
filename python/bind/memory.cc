// SPDX-License-Identifier: Apache-2.0
//
// What frameworks ask about the memory of their tensors.
#include <nanobind/stl/vector.h>

#include <cstdint>
#include <vector>

#include "bind.h"
#include "runtime/strided.h"

namespace opwright::python {

void InitMemory(nb::module_& m) {
  m.def(
      "repeats_memory",
      [](std::vector<int64_t> shape, std::vector<int64_t> strides) {
        OpwrightTensor tensor{};
        tensor.ndim = static_cast<int32_t>(shape.size());
        tensor.shape = shape.data();
        tensor.strides = strides.data();
        // No operator has an output of more dimensions.
        return tensor.ndim <= OPWRIGHT_MAX_RANK && RepeatsMemory(tensor);
      },
      nb::arg("shape"), nb::arg("strides"),
      "Whether two elements may lie in one place. Strides are in elements.");
}

}  // namespace opwright::python

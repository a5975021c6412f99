// error: DTypeOf
// SPDX-License-Identifier: Apache-2.0
#include <opwright/kernel.h>

struct Pair {
  float a, b;
};

const void* First(const opwright::OpKernelInput& input) {
#ifdef MISUSE
  return input.GetTensor(0).Data<Pair>();
#else
  return input.GetTensor(0).Data<float>();
#endif
}

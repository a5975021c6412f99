// error: assignment of read-only location
// SPDX-License-Identifier: Apache-2.0
#include <opwright/kernel.h>

float First(const opwright::OpKernelInput& input) {
#ifdef MISUSE
  input.GetTensor(0).Data<float>()[0] = 1;
#endif
  return input.GetTensor(0).Data<float>()[0];
}

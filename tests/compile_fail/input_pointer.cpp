// error: invalid conversion from
// SPDX-License-Identifier: Apache-2.0
#include <opwright/kernel.h>

float First(const opwright::OpKernelInput& input) {
#ifdef MISUSE
  float* x = input.GetTensor(0).Data<float>();
#else
  const float* x = input.GetTensor(0).Data<float>();
#endif
  return *x;
}

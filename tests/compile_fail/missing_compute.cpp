// error: invalid new-expression of abstract class type
// SPDX-License-Identifier: Apache-2.0
#include <opwright/kernel.h>

struct Kernel : opwright::OpKernelBase {
#ifdef MISUSE
  opwright::Status compute(const opwright::OpKernelInput&, opwright::OpKernelOutput*) {
    return opwright::SUCCESS;
  }
#else
  opwright::Status Compute(const opwright::OpKernelInput&, opwright::OpKernelOutput*) override {
    return opwright::SUCCESS;
  }
#endif
};
OPWRIGHT_KERNEL(misspelt, Kernel)

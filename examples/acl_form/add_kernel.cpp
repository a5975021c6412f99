// SPDX-License-Identifier: Apache-2.0
//
// z = x + y.
#include "acl/acl.h"

class ElementAddKernel : public OpKernelBase {
 public:
  Status Compute(const OpKernelInput& input, OpKernelOutput* output) override {
    const auto& x = input.GetTensor(0);
    const auto& y = input.GetTensor(1);
    const float* x_data = x.Data<float>();
    const float* y_data = y.Data<float>();
    float* z_data = output->GetTensor(0)->Data<float>();
    const int64_t size = x.Size();
    for (int64_t i = 0; i < size; ++i) z_data[i] = x_data[i] + y_data[i];
    return SUCCESS;
  }
};

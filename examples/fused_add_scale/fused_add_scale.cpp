// SPDX-License-Identifier: Apache-2.0
//
// y = (x + bias) * scale for x of shape [..., n], bias and scale of shape [n]; and its gradients:
//   grad_x = grad_y * scale, grad_bias = sum of grad_x, grad_scale = sum of grad_y * (x + bias),
// both sums over all dimensions but the last. The sums are kept in double and rounded once.
#include <opwright/kernel.h>

namespace {

template <class T>
void Forward(const opwright::OpKernelInput& input, opwright::OpKernelOutput* output) {
  const auto& x = input.GetTensor(0);
  const int64_t n = input.GetTensor(1).Size();
  const T* x_data = x.Data<T>();
  const T* bias = input.GetTensor(1).Data<T>();
  const T* scale = input.GetTensor(2).Data<T>();
  T* y = output->GetTensor(0)->Data<T>();
  const int64_t rows = n == 0 ? 0 : x.Size() / n;
  input.ParallelFor(rows, 1 + 32768 / (n + 1), [=](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      for (int64_t i = 0; i < n; ++i) y[r * n + i] = (x_data[r * n + i] + bias[i]) * scale[i];
  });
}

template <class T>
void Backward(const opwright::OpKernelInput& input, opwright::OpKernelOutput* output) {
  const auto& x = input.GetTensor(0);
  const int64_t n = input.GetTensor(1).Size();
  const T* x_data = x.Data<T>();
  const T* bias = input.GetTensor(1).Data<T>();
  const T* scale = input.GetTensor(2).Data<T>();
  const T* grad_y = input.GetTensor(3).Data<T>();
  const int64_t rows = n == 0 ? 0 : x.Size() / n;
  auto* grad_x = output->GetTensor(0);
  auto* grad_bias = output->GetTensor(1);
  auto* grad_scale = output->GetTensor(2);
  if (grad_x != nullptr) {
    T* out = grad_x->Data<T>();
    for (int64_t r = 0; r < rows; ++r)
      for (int64_t i = 0; i < n; ++i) out[r * n + i] = grad_y[r * n + i] * scale[i];
  }
  if (grad_bias == nullptr && grad_scale == nullptr) return;
  auto* sums = static_cast<double*>(input.Scratch(sizeof(double) * 2 * static_cast<size_t>(n)));
  memset(sums, 0, sizeof(double) * 2 * static_cast<size_t>(n));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t i = 0; i < n; ++i) {
      const double g = grad_y[r * n + i];
      sums[i] += g * static_cast<double>(scale[i]);
      sums[n + i] += g * (static_cast<double>(x_data[r * n + i]) + static_cast<double>(bias[i]));
    }
  }
  for (int64_t i = 0; i < n && grad_bias != nullptr; ++i)
    grad_bias->Data<T>()[i] = static_cast<T>(sums[i]);
  for (int64_t i = 0; i < n && grad_scale != nullptr; ++i)
    grad_scale->Data<T>()[i] = static_cast<T>(sums[n + i]);
}

}  // namespace

class FusedAddScaleKernel : public opwright::OpKernelBase {
 public:
  opwright::Status Compute(const opwright::OpKernelInput& input,
                           opwright::OpKernelOutput* output) override {
    if (input.GetTensor(0).DType().bits == 32)
      Forward<float>(input, output);
    else
      Forward<double>(input, output);
    return opwright::SUCCESS;
  }
};

class FusedAddScaleGradKernel : public opwright::OpKernelBase {
 public:
  opwright::Status Compute(const opwright::OpKernelInput& input,
                           opwright::OpKernelOutput* output) override {
    if (input.GetTensor(0).DType().bits == 32)
      Backward<float>(input, output);
    else
      Backward<double>(input, output);
    return opwright::SUCCESS;
  }
};

// SPDX-License-Identifier: Apache-2.0
//
// Each attribute as one number of the output; lists as the digits of one.
#include <opwright/kernel.h>

using opwright::List;

class ReadAttributesKernel : public opwright::OpKernelBase {
 public:
  opwright::Status Compute(const opwright::OpKernelInput& in,
                           opwright::OpKernelOutput* out) override {
    double* z = out->GetTensor(0)->Data<double>();
    z[0] = static_cast<double>(in.Attr<int64_t>("axis"));
    z[1] = in.Attr<double>("rate");
    z[2] = in.Attr<bool>("on") ? 1 : 0;
    z[3] = Digits(in.Attr<List<int64_t>>("sizes"));
    z[4] = Digits(in.Attr<List<double>>("weights"));
    z[5] = Digits(in.Attr<List<int64_t>>("flags"));
    z[6] = 0;
    for (const OpwrightAttr& row : in.Attr<List<OpwrightAttr>>("rows"))
      z[6] =
          10 * z[6] + Digits(List<int64_t>(static_cast<const int64_t*>(row.value.data), row.size));
    return opwright::SUCCESS;
  }

 private:
  template <class T>
  static double Digits(const List<T>& list) {
    double number = 0;
    for (const T digit : list) number = 10 * number + static_cast<double>(digit);
    return number;
  }
};

// SPDX-License-Identifier: Apache-2.0
#include "runtime/sum_to.h"

#include <vector>

#include "base/dtype.h"
#include "runtime/strided.h"

namespace opwright {
namespace {

OpwrightTensor AsFloat64(const OpwrightTensor& like, std::vector<double>* memory) {
  memory->assign(static_cast<size_t>(NumElements(like)), 0.0);
  OpwrightTensor tensor = like;
  tensor.data = memory->data();
  tensor.byte_offset = 0;
  tensor.strides = nullptr;
  tensor.dtype = kFloat64;
  return tensor;
}

}  // namespace

bool SumsTo(const OpwrightTensor& from, const OpwrightTensor& to) {
  const int32_t lead = from.ndim - to.ndim;
  if (lead < 0) return false;
  for (int32_t k = 0; k < to.ndim; ++k)
    if (to.shape[k] != 1 && to.shape[k] != from.shape[lead + k]) return false;
  return true;
}

bool SumTo(const OpwrightTensor& from, const OpwrightTensor& to) {
  if (!IsFloat(from.dtype) || !IsFloat(to.dtype)) return false;
  std::vector<double> values, sums;
  const OpwrightTensor wide = AsFloat64(from, &values);
  const OpwrightTensor total = AsFloat64(to, &sums);
  CopyTensor(from, wide);
  // Strides of the sums as `from` sees them: 0 where they are added up.
  int64_t strides[OPWRIGHT_MAX_RANK] = {};
  const int32_t lead = from.ndim - to.ndim;
  int64_t stride = 1;
  for (int32_t k = to.ndim - 1; k >= 0; --k) {
    strides[lead + k] = to.shape[k] == 1 ? 0 : stride;
    stride *= to.shape[k];
  }
  int64_t index[OPWRIGHT_MAX_RANK] = {};
  int64_t at = 0;
  for (const double value : values) {
    sums[static_cast<size_t>(at)] += value;
    for (int32_t k = from.ndim - 1; k >= 0; --k) {
      at += strides[k];
      if (++index[k] < from.shape[k]) break;
      at -= strides[k] * index[k];
      index[k] = 0;
    }
  }
  CopyTensor(total, to);
  return true;
}

}  // namespace opwright

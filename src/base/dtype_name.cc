// SPDX-License-Identifier: Apache-2.0
#include "base/dtype_name.h"

namespace opwright {

OpwrightDType DTypeNamed(std::string_view name) {
  constexpr struct {
    std::string_view name;
    OpwrightDType dtype;
  } kDTypes[] = {
      {"float32", {kOpwrightFloat, 32, 1}},
      {"float64", {kOpwrightFloat, 64, 1}},
      {"float16", {kOpwrightFloat, 16, 1}},
      {"bfloat16", {kOpwrightBfloat, 16, 1}},
      {"int64", {kOpwrightInt, 64, 1}},
      {"int32", {kOpwrightInt, 32, 1}},
      {"int16", {kOpwrightInt, 16, 1}},
      {"int8", {kOpwrightInt, 8, 1}},
      {"uint8", {kOpwrightUInt, 8, 1}},
      {"uint16", {kOpwrightUInt, 16, 1}},
      {"uint32", {kOpwrightUInt, 32, 1}},
      {"uint64", {kOpwrightUInt, 64, 1}},
      {"bool", {kOpwrightBool, 8, 1}},
      {"complex64", {kOpwrightComplex, 64, 1}},
      {"complex128", {kOpwrightComplex, 128, 1}},
  };
  for (const auto& known : kDTypes)
    if (known.name == name) return known.dtype;
  return {0, 0, 0};
}

}  // namespace opwright

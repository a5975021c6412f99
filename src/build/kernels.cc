// SPDX-License-Identifier: Apache-2.0
#include "build/kernels.h"

#include <algorithm>

#include "base/text.h"

namespace opwright::build {

std::string OperatorOfClass(std::string_view class_name) {
  constexpr std::string_view kSuffix = "Kernel";
  if (class_name.size() > kSuffix.size() && class_name.ends_with(kSuffix))
    class_name.remove_suffix(kSuffix.size());
  return SnakeCase(class_name);
}

std::vector<Kernel> FindKernels(const SourceScan& scan, const std::string& file) {
  std::vector<Kernel> kernels;
  const auto last_part = [](std::string_view name) {
    const size_t at = name.rfind(':');
    return std::string(at == name.npos ? name : name.substr(at + 1));
  };
  for (const ScannedMarker& marker : scan.markers)
    kernels.push_back({marker.op, marker.function ? marker.scope : marker.target, marker.function,
                       true, false, file, marker.line, marker.target, marker.parameters});
  for (const ScannedClass& found : scan.classes) {
    if (std::find(found.bases.begin(), found.bases.end(), "OpKernelBase") == found.bases.end())
      continue;
    const std::string op = OperatorOfClass(found.name);
    const bool marked =
        std::any_of(scan.markers.begin(), scan.markers.end(), [&](const auto& marker) {
          return !marker.function && last_part(marker.target) == found.name;
        });
    const bool base = std::any_of(scan.classes.begin(), scan.classes.end(), [&](const auto& other) {
      return std::find(other.bases.begin(), other.bases.end(), found.name) != other.bases.end();
    });
    if (!marked)
      kernels.push_back({op, found.qualified, false, false, base, file, found.line, {}, {}});
  }
  return kernels;
}

}  // namespace opwright::build

// error: AttrReader
// SPDX-License-Identifier: Apache-2.0
#include <opwright/kernel.h>

#include <string>

std::string Mode(const opwright::OpKernelInput& input) {
#ifdef MISUSE
  return input.Attr<std::string>("mode");
#else
  return input.Attr<const char*>("mode");
#endif
}

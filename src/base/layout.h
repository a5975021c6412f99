// SPDX-License-Identifier: Apache-2.0
//
// Where this Opwright lies: everything is found relative to libopwright.so, so a package can be
// moved.
#pragma once

#include <string>

namespace opwright {

struct PackageLayout {
  // libopwright.so, libopwright_entries.a, libopwright_mindspore.so, the command line
  std::string lib_dir;
  std::string include_dir;  // opwright/c_api.h, acl/acl.h
  std::string cmake_dir;  // OpwrightConfig.cmake
};

const PackageLayout& Layout();

}  // namespace opwright

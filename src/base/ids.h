// SPDX-License-Identifier: Apache-2.0
//
// The table of stable error ids: one row each in src/base/ids/*.def, with cause, cure and acl code.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace opwright {

struct ErrorId {
  std::string_view id;
  int32_t acl_code;  // what the acl form returns; in pyACL's numbering where it has one
  std::string_view summary;
  std::string_view cause;
  std::string_view cure;
};

std::span<const ErrorId> AllErrorIds();
// Null when there is no such id.
const ErrorId* FindErrorId(std::string_view id);

}  // namespace opwright

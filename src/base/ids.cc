// SPDX-License-Identifier: Apache-2.0
#include "base/ids.h"

namespace opwright {
namespace {

#define OPWRIGHT_ID(id, acl_code, summary, cause, cure) {#id, acl_code, summary, cause, cure},
// clang-format off: in the order of the work, not of the alphabet
constexpr ErrorId kIds[] = {
#include "base/ids/md.def"
#include "base/ids/bd.def"
#include "base/ids/ld.def"
#include "base/ids/rg.def"
#include "base/ids/cl.def"
#include "base/ids/gr.def"
#include "base/ids/ck.def"
#include "base/ids/ca.def"
#include "base/ids/in.def"
};
// clang-format on
#undef OPWRIGHT_ID

}  // namespace

std::span<const ErrorId> AllErrorIds() { return kIds; }

const ErrorId* FindErrorId(std::string_view id) {
  for (const ErrorId& row : kIds)
    if (row.id == id) return &row;
  return nullptr;
}

}  // namespace opwright

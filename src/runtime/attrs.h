// SPDX-License-Identifier: Apache-2.0
//
// The attributes of a call: defaults filled in, types checked.
#pragma once

#include <cstdint>
#include <string>

#include "base/error.h"
#include "base/text.h"
#include "opwright/c_api.h"
#include "runtime/arena.h"

namespace opwright {

// All of def's attributes in metadef order. An int given for a float is taken, a
// list of ints for one of floats, and an empty list for any list. CL006 when a required
// one is missing or a type is wrong.
Expected<const OpwrightAttr*> ResolveAttrs(const OpwrightOpDef& def, const OpwrightAttr* attrs,
                                           int32_t num_attrs, Arena& arena);

inline bool IsListAttr(int32_t type) { return type >= kOpwrightAttrListInt; }

// A value as a metadef writes it: 3, 0.5, true, "mean", [1, 2].
std::string AttrText(const OpwrightAttr& attr);

// "[a, b]" of a list attribute's items, which are of type T, as text(item) writes them.
template <class T, class Text>
std::string ListText(const OpwrightAttr& attr, const Text& text) {
  std::string out = "[";
  for (int64_t k = 0; k < attr.size; ++k)
    out += StrCat(k > 0 ? ", " : "", text(static_cast<const T*>(attr.value.data)[k]));
  return out + "]";
}

}  // namespace opwright

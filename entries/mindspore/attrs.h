// SPDX-License-Identifier: Apache-2.0
//
// An operator's attributes, from those of MindSpore's primitive. Two spellings:
// - "opwright.NAME", from Opwright's adapter, exact: a float as the bits of a double; lists of
//   floats likewise; a list of strings as "3:abc0:..."; rows of ints flat, their number and lengths
//   first.
// - "NAME", from MindSpore's own add_prim_attr or reg_info, floats as float32.
#pragma once

#include "entries/mindspore/extra.h"
#include "opwright/c_api.h"
#include "runtime/arena.h"

namespace opwright::entries {

// Of a number that MindSpore made float32 on its way: the shortest decimal number that rounds to
// it, which is what the user has written.
double AsWritten(float value);

// One for each of the definition's attributes, type 0 where the primitive has none; valid as long
// as reader and arena. Throws what MindSpore throws.
const OpwrightAttr* ReadMindSporeAttrs(const OpwrightOpDef& def, ExtraReader& reader, Arena& arena);

}  // namespace opwright::entries

// SPDX-License-Identifier: Apache-2.0
//
// The "attr" field.
#pragma once

#include "metadef/checker.h"
#include "metadef/json_tree.h"
#include "metadef/metadef.h"

namespace opwright::metadef {

// Appends to op->attrs. Entries with errors have been reported; what could be read of them is
// there.
void ReadAttrs(Checker& checker, const JsonValue& list, const std::string& path, Operator* op);

}  // namespace opwright::metadef

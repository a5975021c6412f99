// SPDX-License-Identifier: Apache-2.0
//
// The "gradient" field.
#pragma once

#include <string>

#include "metadef/checker.h"
#include "metadef/json_tree.h"
#include "metadef/metadef.h"

namespace opwright::metadef {

// Fills op->gradient. path: "gradient".
void ReadGradient(Checker& checker, const JsonValue& value, const std::string& path, Operator* op);

}  // namespace opwright::metadef

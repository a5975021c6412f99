// SPDX-License-Identifier: Apache-2.0
//
// Documents of other tools that are called an operator's JSON too.
#pragma once

#include "metadef/checker.h"
#include "metadef/json_tree.h"

namespace opwright::metadef {

// Reports one diagnostic and returns true when the document is one of them.
bool RecognizeForeign(Checker& checker, const JsonValue& root);

}  // namespace opwright::metadef

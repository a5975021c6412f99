// SPDX-License-Identifier: Apache-2.0
//
// dtype and format lists are columns: entry k of every list belongs together.
#pragma once

#include <string>

#include "metadef/checker.h"
#include "metadef/fields.h"
#include "metadef/metadef.h"

namespace opwright::metadef {

// Compares the lengths of all lists and sets op->num_columns.
void CheckColumns(Checker& checker, const ObjectFields& fields, const std::string& path,
                  Operator* op);

// Whether every shape list of the inputs and outputs is right.
bool ShapesAreRead(const ObjectFields& fields);

}  // namespace opwright::metadef

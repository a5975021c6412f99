// SPDX-License-Identifier: Apache-2.0
//
// One operator of a metadef file.
#pragma once

#include <string>

#include "metadef/checker.h"
#include "metadef/json_tree.h"
#include "metadef/metadef.h"

namespace opwright::metadef {

// What could be read of an operator.
struct Reading {
  Operator op;
  bool good = false;  // there were no errors
  bool named = false;  // its name and those of all its inputs and outputs are known
};

// Errors have been reported. path: "" or "[1].".
Reading ReadOperator(Checker& checker, const JsonValue& object, const std::string& path);

}  // namespace opwright::metadef

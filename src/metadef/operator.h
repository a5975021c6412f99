// SPDX-License-Identifier: Apache-2.0
//
// One operator of a metadef file.
#pragma once

#include <optional>
#include <string>

#include "metadef/checker.h"
#include "metadef/json_tree.h"
#include "metadef/metadef.h"

namespace opwright::metadef {

// nullopt when there were errors; they have been reported. path: "" or "[1].".
std::optional<Operator> ReadOperator(Checker& checker, const JsonValue& object,
                                     const std::string& path);

}  // namespace opwright::metadef

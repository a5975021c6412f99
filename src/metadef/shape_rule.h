// SPDX-License-Identifier: Apache-2.0
//
// The "shape_rule" field: how the shape of each output follows.
#pragma once

#include "metadef/checker.h"
#include "metadef/json_tree.h"
#include "metadef/metadef.h"

namespace opwright::metadef {

// Fills op->shape_rules, one an output. rule: null when the field is absent; op has its inputs,
// outputs and attributes. outputs: the list that op->outputs was read from. shapes_known: false
// when a shape list was wrong, so that what depends on shapes is left alone.
void ReadShapeRules(Checker& checker, const JsonValue* rule, const JsonValue& outputs,
                    const std::string& path, bool shapes_known, Operator* op);

// The names of dimensions, those of inputs first.
std::vector<std::string> SymbolsOf(const std::vector<Param>& inputs,
                                   const std::vector<Param>& outputs = {});

}  // namespace opwright::metadef

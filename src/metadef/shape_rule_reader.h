// SPDX-License-Identifier: Apache-2.0
//
// One shape rule: "same(x)", "broadcast(x, y)", "kernel", "forward" or a list of dimensions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "metadef/checker.h"
#include "metadef/expression.h"
#include "metadef/json_tree.h"
#include "metadef/metadef.h"

namespace opwright::metadef {

// What a rule can be, for hints.
constexpr std::string_view kShapeRules =
    "\"same(x)\", \"broadcast(x, y)\", \"kernel\", \"forward\" or a list of dimensions";

class ShapeRuleReader {
 public:
  // symbols: the names of dimensions of the inputs.
  ShapeRuleReader(Checker& checker, const Operator& op, const std::vector<std::string>& symbols);

  // The rule for one output; nullopt when it was reported.
  std::optional<ShapeRule> Read(const JsonValue& value, const std::string& path, size_t output);

 private:
  // A list as messages show it, however the file breaks it.
  std::string OnOneLine(const JsonValue& list) const;
  bool NoRule(const JsonValue& value, const std::string& path);
  bool BadRule(const JsonValue& value, size_t begin, size_t end, const std::string& path,
               const std::string& message, std::string hint);
  bool ReadNamed(const JsonValue& value, const std::string& path, size_t output, ShapeRule* rule);
  // The short form of a backward operator: grad_x has the shape of the own input x, if there is
  // one.
  void BindForward(size_t output, ShapeRule* rule);
  bool ReadArguments(const JsonValue& value, const std::string& path, size_t open, ShapeRule* rule);
  bool ReadArgument(const JsonValue& value, const std::string& path, size_t begin, size_t end,
                    std::unordered_set<int32_t>* seen, ShapeRule* rule);
  bool ReadDims(const JsonValue& value, const std::string& path, ShapeRule* rule);
  bool ReadDim(const JsonValue& entry, const std::string& path, size_t position, ShapeRule* rule);

  Checker& checker_;
  const Operator& op_;
  std::unordered_map<std::string_view, int32_t> indices_;  // of the inputs
  bool inputs_named_;  // each has a name that could be read
  RuleScope scope_;
};

// Name -> place; the first of a name counts.
std::unordered_map<std::string_view, int32_t> IndicesOf(const std::vector<Param>& params);

template <class Item>
bool AllNamed(const std::vector<Item>& items) {
  for (const Item& item : items)
    if (item.name.empty()) return false;
  return true;
}

}  // namespace opwright::metadef

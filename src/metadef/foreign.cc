// SPDX-License-Identifier: Apache-2.0
#include "metadef/foreign.h"

#include "base/text.h"

namespace opwright::metadef {
namespace {

// The first entry of a list that is an object, or null.
const JsonValue* FirstObject(const JsonValue* list) {
  if (list == nullptr || !list->is(JsonKind::kList)) return nullptr;
  for (const JsonValue& item : list->items)
    if (item.is(JsonKind::kObject)) return &item;
  return nullptr;
}

bool Has(const JsonValue* object, std::string_view key, JsonKind kind) {
  if (object == nullptr) return false;
  const JsonValue* value = object->Find(key);
  return value != nullptr && value->is(kind);
}

}  // namespace

bool RecognizeForeign(Checker& checker, const JsonValue& root) {
  const JsonValue* object = root.is(JsonKind::kObject) ? &root : FirstObject(&root);
  if (object == nullptr) return false;
  if (Has(object, "dtype_format", JsonKind::kList)) {
    checker.Error(
        "MD009", root,
        "this is the operator info that MindSpore's CustomRegOp makes, not a metadef",
        "write a metadef: each row of dtype_format is one column, so entry k of every dtype "
        "list is row k; inputs and outputs go to input_desc and output_desc");
    return true;
  }
  if (!Has(object, "op", JsonKind::kString) || object->Find("op_name") != nullptr) return false;
  const JsonValue* param = FirstObject(object->Find("input_desc"));
  if (param == nullptr) param = FirstObject(object->Find("output_desc"));
  if (Has(param, "type", JsonKind::kString) || Has(param, "format", JsonKind::kString)) {
    checker.Error(
        "MD009", root, "this is a single-op description, one call with fixed shapes, not a metadef",
        "write a metadef: \"op\" becomes \"op_name\" in small letters, \"type\" becomes the list "
        "\"dtype\", \"format\" a list; shape [-2] takes any shape");
    return true;
  }
  if (Has(param, "type", JsonKind::kList)) {
    checker.Error("MD009", root, "this is an operator prototype for msopgen, not a metadef",
                  "write a metadef: \"op\" becomes \"op_name\" in small letters, \"type\" becomes "
                  "\"dtype\", and each input and output gets a \"shape\", [-2] for any rank");
    return true;
  }
  return false;
}

}  // namespace opwright::metadef

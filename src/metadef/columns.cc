// SPDX-License-Identifier: Apache-2.0
#include "metadef/columns.h"

#include <unordered_map>

#include "base/text.h"
#include "metadef/field_checks.h"

namespace opwright::metadef {
namespace {

struct Column {
  std::string path;
  std::string field;  // without the path of the input, for a comparison within it
  const JsonValue* list;
  size_t param;
};

std::vector<Column> Collect(const ObjectFields& fields, const std::string& path) {
  std::vector<Column> columns;
  size_t param = 0;
  for (std::string_view desc : {"input_desc", "output_desc"}) {
    if (fields[desc] == nullptr) continue;
    for (size_t i = 0; i < fields[desc]->items.size(); ++i, ++param) {
      for (std::string_view field : {"dtype", "format"}) {
        const JsonValue* list = fields[desc]->items[i].Find(field);
        if (list == nullptr || !list->is(JsonKind::kList) || list->items.empty()) continue;
        columns.push_back(
            {StrCat(path, desc, "[", i, "].", field), std::string(field), list, param});
      }
    }
  }
  return columns;
}

std::string Entries(size_t n) { return StrCat(n, n == 1 ? " entry" : " entries"); }

// A column with the input dtypes of an earlier one can never be chosen.
void CheckReachable(Checker& checker, const ObjectFields& fields, const std::string& path,
                    const Operator& op) {
  for (const Param& input : op.inputs)
    if (input.dtypes.size() != 1 && input.dtypes.size() != static_cast<size_t>(op.num_columns))
      return;
  std::unordered_map<std::string, int> first_with;
  for (int k = 0; k < op.num_columns; ++k) {
    std::string dtypes;
    for (const Param& input : op.inputs)
      if (input.dtypes.size() > 1) dtypes += StrCat(input.DType(k), " ");
    const auto [first, added] = first_with.emplace(std::move(dtypes), k);
    if (added) continue;
    const JsonValue& at = *fields[op.inputs.empty() ? "output_desc" : "input_desc"];
    checker.Warning("MD039", at.begin, at.begin + 1,
                    StrCat(path, "column ", k + 1, " has the input dtypes of column ",
                           first->second + 1, " and is never taken"),
                    "remove it from every dtype and format list");
  }
}

}  // namespace

void CheckColumns(Checker& checker, const ObjectFields& fields, const std::string& path,
                  Operator* op) {
  const std::vector<Column> columns = Collect(fields, path);
  const Column* reference = nullptr;
  bool good = true;
  for (const Column& column : columns) {
    const size_t length = column.list->items.size();
    if (length == 1) continue;
    if (reference == nullptr) {
      reference = &column;
      continue;
    }
    if (length == reference->list->items.size()) continue;
    // The list beside it says more than one far away.
    const Column* other = reference;
    if (const Column* beside = &column - 1; &column != columns.data() &&
                                            beside->param == column.param &&
                                            beside->list->items.size() != 1)
      other = beside;
    if (other->list->items.size() == length) other = reference;
    checker.Error("MD017", *column.list,
                  StrCat(column.path, ": ", Entries(length), ", ",
                         other->param == column.param ? other->field : other->path, " has ",
                         other->list->items.size()),
                  StrCat("lists are columns: give each ", reference->list->items.size(),
                         " entries, or one for all"));
    good = false;
  }
  if (reference != nullptr) op->num_columns = static_cast<int>(reference->list->items.size());
  if (good) CheckReachable(checker, fields, path, *op);
}

bool ShapesAreRead(const ObjectFields& fields) {
  Checker silent("", "");
  for (std::string_view desc : {"input_desc", "output_desc"}) {
    for (const JsonValue& item : fields[desc]->items) {
      const JsonValue* shape = item.Find("shape");
      if (shape == nullptr || !CheckShape(silent, *shape, "")) return false;
    }
  }
  return true;
}

}  // namespace opwright::metadef

// SPDX-License-Identifier: Apache-2.0
#include "check/guarded_lists.h"

#include <cstring>

#include "base/text.h"
#include "runtime/attrs.h"

namespace opwright::check {
namespace {

size_t ItemSizeOf(int32_t type) {
  if (type == kOpwrightAttrListListInt) return sizeof(OpwrightAttr);
  if (type == kOpwrightAttrListString) return sizeof(const char*);
  return sizeof(int64_t);  // and of a double
}

void Guard(const std::string& name, OpwrightAttr* attr, GuardedLists* lists) {
  const size_t bytes = static_cast<size_t>(attr->size) * ItemSizeOf(attr->type);
  auto list =
      std::make_shared<GuardedBuffer>(name, StrCat("[", attr->size, "]"), bytes, Flush::kEnd);
  if (bytes > 0) memcpy(list->data(), attr->value.data, bytes);
  if (attr->type == kOpwrightAttrListListInt) {
    auto* const inner = reinterpret_cast<OpwrightAttr*>(list->data());
    for (int64_t k = 0; k < attr->size; ++k) Guard(StrCat(name, "[", k, "]"), &inner[k], lists);
  }
  list->SetReadOnly(true);
  attr->value.data = list->data();
  lists->push_back(std::move(list));
}

}  // namespace

GuardedLists GuardLists(const OpwrightOpDef& def, std::vector<OpwrightAttr>* attrs) {
  GuardedLists lists;
  for (size_t i = 0; i < attrs->size(); ++i)
    if (IsListAttr((*attrs)[i].type))
      Guard(StrCat("attribute ", def.attrs[i]->name), &(*attrs)[i], &lists);
  return lists;
}

}  // namespace opwright::check

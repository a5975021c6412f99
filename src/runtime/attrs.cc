// SPDX-License-Identifier: Apache-2.0
#include "runtime/attrs.h"

#include <algorithm>
#include <string_view>

#include "base/dtype.h"
#include "base/dtype_name.h"
#include "base/spelling.h"
#include "base/text.h"

namespace opwright {

namespace {

// Whether a value's memory is what its type and size say: it comes from any program.
bool IsWhole(const OpwrightAttr& attr) {
  if (attr.type != kOpwrightAttrString && attr.type != kOpwrightAttrType && !IsListAttr(attr.type))
    return true;
  if (attr.size < 0 || (attr.value.data == nullptr && (attr.size > 0 || !IsListAttr(attr.type))))
    return false;
  if (attr.type == kOpwrightAttrListString) {
    const auto* texts = static_cast<const char* const*>(attr.value.data);
    return std::find(texts, texts + attr.size, nullptr) == texts + attr.size;
  }
  if (attr.type == kOpwrightAttrListListInt) {
    const auto* lists = static_cast<const OpwrightAttr*>(attr.value.data);
    return std::all_of(lists, lists + attr.size, [](const OpwrightAttr& list) {
      return list.type == kOpwrightAttrListInt && IsWhole(list);
    });
  }
  return true;
}

const char* BoolText(int64_t value) { return value != 0 ? "true" : "false"; }

}  // namespace

std::string AttrText(const OpwrightAttr& attr) {
  switch (attr.type) {
    case kOpwrightAttrInt:
      return StrCat(attr.value.i);
    case kOpwrightAttrFloat:
      return StrCat(attr.value.f);
    case kOpwrightAttrBool:
      return BoolText(attr.value.i);
    case kOpwrightAttrString:
    case kOpwrightAttrType:
      return JsonQuote({attr.value.s, static_cast<size_t>(attr.size)});
    case kOpwrightAttrListInt:
      return ListText<int64_t>(attr, [](int64_t v) { return StrCat(v); });
    case kOpwrightAttrListFloat:
      return ListText<double>(attr, [](double v) { return StrCat(v); });
    case kOpwrightAttrListBool:
      return ListText<int64_t>(attr, BoolText);
    case kOpwrightAttrListString:
      return ListText<const char*>(attr, [](const char* v) { return JsonQuote(v); });
    case kOpwrightAttrListListInt:
      return ListText<OpwrightAttr>(attr, AttrText);
    default:
      return "";
  }
}

Expected<const OpwrightAttr*> ResolveAttrs(const OpwrightOpDef& def, const OpwrightAttr* attrs,
                                           int32_t num_attrs, Arena& arena) {
  if (num_attrs > def.num_attrs)
    return MakeError("CL006", StrCat(def.name, ": ", Count(num_attrs, "attribute"),
                                     " given, the metadef lists ", def.num_attrs));
  OpwrightAttr* resolved = arena.Make<OpwrightAttr>(def.num_attrs);
  for (int32_t i = 0; i < def.num_attrs; ++i) {
    const OpwrightAttrDef& attr = *def.attrs[i];
    const bool given = i < num_attrs && attrs[i].type != 0;
    if (!given) {
      if (attr.required)
        return MakeError("CL006",
                         StrCat(def.name, ": attribute ", attr.name, " (", AttrTypeName(attr.type),
                                ") is required and was not given"));
      resolved[i] = attr.default_value;
      continue;
    }
    if (!IsWhole(attrs[i]))
      return MakeError("CL006",
                       StrCat(def.name, ": attribute ", attr.name, " (", AttrTypeName(attr.type),
                              ") was given a null pointer, or a negative size"));
    resolved[i] = attrs[i];
    if (attr.type == kOpwrightAttrType &&
        (attrs[i].type == kOpwrightAttrType || attrs[i].type == kOpwrightAttrString)) {
      const std::string_view name(attrs[i].value.s, static_cast<size_t>(attrs[i].size));
      if (DTypeNamed(name).bits == 0)
        return MakeError("CL006",
                         StrCat(def.name, ": attribute ", attr.name, " is a dtype, \"",
                                name.substr(0, 80), "\" was given; write one like \"float32\""));
    }
    const int32_t type = attrs[i].type;
    if (type == attr.type) continue;
    if (type == kOpwrightAttrInt && attr.type == kOpwrightAttrFloat) {
      resolved[i].value.f = static_cast<double>(attrs[i].value.i);
      resolved[i].type = kOpwrightAttrFloat;
    } else if (type == kOpwrightAttrString && attr.type == kOpwrightAttrType) {
      resolved[i].type = kOpwrightAttrType;
    } else if (IsListAttr(type) && IsListAttr(attr.type) && attrs[i].size == 0) {
      resolved[i].type = attr.type;
    } else if (type == kOpwrightAttrListInt && attr.type == kOpwrightAttrListFloat) {
      double* values = arena.Make<double>(attrs[i].size);
      const auto* ints = static_cast<const int64_t*>(attrs[i].value.data);
      std::copy(ints, ints + attrs[i].size, values);
      resolved[i].type = kOpwrightAttrListFloat;
      resolved[i].value.data = values;
    } else {
      return MakeError("CL006",
                       StrCat(def.name, ": attribute ", attr.name, " is ", AttrTypeName(attr.type),
                              " in the metadef, ", AttrTypeName(type), " was given"));
    }
  }
  return static_cast<const OpwrightAttr*>(resolved);
}

}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
#include "entries/mindspore/attrs.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "base/text.h"

namespace opwright::entries {
namespace {

double FromBits(int64_t bits) {
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// "3:abc0:" as a list; the items point into the text, whose colons and ends become zero bytes.
const char* const* SplitStrings(char* text, int64_t size, int64_t* count, Arena& arena) {
  const char** items = arena.Make<const char*>(size / 2 + 1);
  *count = 0;
  char* at = text;
  char* const end = text + size;
  while (at < end) {
    char* colon = nullptr;
    const auto length = static_cast<int64_t>(strtoll(at, &colon, 10));
    *at = '\0';  // ends the item before
    items[(*count)++] = colon + 1;
    at = colon + 1 + length;
  }
  return items;
}

OpwrightAttr Rows(const int64_t* flat, Arena& arena) {
  const int64_t count = flat[0];
  auto* rows = arena.Make<OpwrightAttr>(count);
  const int64_t* values = flat + 1 + count;
  for (int64_t k = 0; k < count; ++k) {
    rows[k] = {kOpwrightAttrListInt, 0, flat[1 + k], {}};
    rows[k].value.data = values;
    values += flat[1 + k];
  }
  OpwrightAttr attr = {kOpwrightAttrListListInt, 0, count, {}};
  attr.value.data = rows;
  return attr;
}

OpwrightAttr Exact(int32_t type, const char* name, ExtraReader& reader, Arena& arena) {
  OpwrightAttr attr = {type, 0, 0, {}};
  switch (type) {
    case kOpwrightAttrInt:
    case kOpwrightAttrBool:
      attr.value.i = reader.Int(name);
      break;
    case kOpwrightAttrFloat:
      attr.value.f = FromBits(reader.Int(name));
      break;
    case kOpwrightAttrString:
    case kOpwrightAttrType:
      attr.value.s = reader.String(name, &attr.size);
      break;
    case kOpwrightAttrListListInt: {
      int64_t size = 0;
      return Rows(reader.Ints(name, &size), arena);
    }
    case kOpwrightAttrListString: {
      int64_t size = 0;
      char* text = const_cast<char*>(reader.String(name, &size));
      attr.value.data = SplitStrings(text, size, &attr.size, arena);
      break;
    }
    default:  // lists of floats are bits already
      attr.value.data = reader.Ints(name, &attr.size);
  }
  return attr;
}

OpwrightAttr Plain(int32_t type, const char* name, ExtraReader& reader, Arena& arena) {
  OpwrightAttr attr = {type, 0, 0, {}};
  switch (type) {
    case kOpwrightAttrInt:
      attr.value.i = reader.Int(name);
      break;
    case kOpwrightAttrBool:
      attr.value.i = reader.Bool(name) ? 1 : 0;
      break;
    case kOpwrightAttrFloat:
      attr.value.f = AsWritten(reader.Float(name));
      break;
    case kOpwrightAttrString:
    case kOpwrightAttrType:
      attr.value.s = reader.String(name, &attr.size);
      break;
    case kOpwrightAttrListInt:
      attr.value.data = reader.Ints(name, &attr.size);
      break;
    case kOpwrightAttrListFloat: {
      const float* floats = reader.Floats(name, &attr.size);
      auto* values = arena.Make<double>(attr.size);
      for (int64_t k = 0; k < attr.size; ++k) values[k] = AsWritten(floats[k]);
      attr.value.data = values;
      break;
    }
    case kOpwrightAttrListListInt:
      return Rows(reader.IntRows(name), arena);
    default:
      throw std::runtime_error(
          StrCat("attribute ", name,
                 " is of a kind that MindSpore hands to no library; call the operator through "
                 "opwright.mindspore [CL006]"));
  }
  return attr;
}

}  // namespace

double AsWritten(float value) {
  char text[32];
  const std::to_chars_result written = std::to_chars(text, text + sizeof text, value);
  double read = 0;  // not by strtod, which knows the decimal comma of some languages
  std::from_chars(text, written.ptr, read);
  return read;
}

const OpwrightAttr* ReadMindSporeAttrs(const OpwrightOpDef& def, ExtraReader& reader,
                                       Arena& arena) {
  auto* attrs = arena.Make<OpwrightAttr>(def.num_attrs);
  // Of the adapter's primitive a plain name may be one of MindSpore's own attributes.
  const bool adapter = reader.Has("opwright_token");
  for (int32_t i = 0; i < def.num_attrs; ++i) {
    const OpwrightAttrDef& attr = *def.attrs[i];
    const std::string exact = StrCat("opwright.", attr.name);
    attrs[i] = {};
    if (reader.Has(exact.c_str()))
      attrs[i] = Exact(attr.type, exact.c_str(), reader, arena);
    else if (!adapter && reader.Has(attr.name))
      attrs[i] = Plain(attr.type, attr.name, reader, arena);
  }
  return attrs;
}

}  // namespace opwright::entries

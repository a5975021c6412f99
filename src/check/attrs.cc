// SPDX-License-Identifier: Apache-2.0
#include "check/attrs.h"

#include <algorithm>
#include <bit>

#include "base/text.h"
#include "runtime/attrs.h"

namespace opwright::check {
namespace {

bool HasSecond(const OpwrightOpDef& def, int32_t i) {
  const int32_t type = def.attrs[i]->type;
  return i < 64 &&
         (type == kOpwrightAttrInt || type == kOpwrightAttrFloat || type == kOpwrightAttrBool);
}

OpwrightAttr Harmless(int32_t type) {
  static const int64_t kOne = 1;
  static const double kHalf = 0.5;
  static const char* const kWord = "x";
  static const OpwrightAttr kInts = {kOpwrightAttrListInt, 0, 1, {.data = &kOne}};
  OpwrightAttr attr = {};
  attr.type = type;
  switch (type) {
    case kOpwrightAttrInt:
    case kOpwrightAttrBool:
      attr.value.i = 1;
      break;
    case kOpwrightAttrFloat:
      attr.value.f = kHalf;
      break;
    case kOpwrightAttrString:
      attr.value.s = kWord;
      attr.size = 1;
      break;
    case kOpwrightAttrType:
      attr.value.s = "float32";
      attr.size = 7;
      break;
    case kOpwrightAttrListFloat:
      attr.value.data = &kHalf;
      attr.size = 1;
      break;
    case kOpwrightAttrListString:
      attr.value.data = &kWord;
      attr.size = 1;
      break;
    case kOpwrightAttrListListInt:
      attr.value.data = &kInts;
      attr.size = 1;
      break;
    default:
      attr.value.data = &kOne;
      attr.size = 1;
  }
  return attr;
}

OpwrightAttr First(const OpwrightAttrDef& def) {
  return def.required != 0 ? Harmless(def.type) : def.default_value;
}

// Of the same sign and size, so that an operator that takes the first probably takes it; the axis
// after the first one's.
OpwrightAttr Second(const OpwrightAttrDef& def) {
  OpwrightAttr attr = First(def);
  if (attr.type == kOpwrightAttrFloat)
    attr.value.f = attr.value.f == 0 ? 0.75 : attr.value.f * 1.75;
  else if (attr.type == kOpwrightAttrBool)
    attr.value.i = attr.value.i == 0 ? 1 : 0;
  else
    attr.value.i += attr.value.i == INT64_MAX ? -1 : 1;
  return attr;
}

}  // namespace

std::vector<SecondValues> AttrChoices(const OpwrightOpDef& def, uint64_t seed) {
  SecondValues every = 0;
  for (int32_t i = 0; i < def.num_attrs; ++i)
    if (HasSecond(def, i)) every |= SecondValues{1} << i;
  if (every == 0 || seed % 2 == 0) return {0};
  std::vector<SecondValues> choices = {every};
  // An operator may refuse two together and take each alone: one of them, another in each call.
  const int count = std::popcount(every);
  SecondValues rest = every;
  for (uint64_t skip = seed / 2 % static_cast<uint64_t>(count); skip > 0; --skip) rest &= rest - 1;
  if (count > 1) choices.push_back(rest & (~rest + 1));
  choices.push_back(0);
  return choices;
}

std::vector<OpwrightAttr> MakeAttrs(const OpwrightOpDef& def, SecondValues second) {
  std::vector<OpwrightAttr> attrs;
  for (int32_t i = 0; i < def.num_attrs; ++i)
    attrs.push_back(i < 64 && (second >> i & 1) != 0 ? Second(*def.attrs[i])
                                                     : First(*def.attrs[i]));
  return attrs;
}

std::string SecondValuesText(const OpwrightOpDef& def, SecondValues second) {
  std::vector<std::string> parts;
  for (int32_t i = 0; i < std::min(def.num_attrs, 64); ++i)
    if ((second >> i & 1) != 0)
      parts.push_back(StrCat(def.attrs[i]->name, "=", AttrText(Second(*def.attrs[i]))));
  return Join(parts, ", ");
}

}  // namespace opwright::check

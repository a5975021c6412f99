// SPDX-License-Identifier: Apache-2.0
#include "check/attrs.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>

#include "base/text.h"
#include "runtime/attrs.h"

namespace opwright::check {
namespace {

bool HasSecond(const OpwrightOpDef& def, int32_t i) {
  const int32_t type = def.attrs[i]->type;
  return i < 64 &&
         (type == kOpwrightAttrInt || type == kOpwrightAttrFloat || type == kOpwrightAttrBool);
}

// Items of lists; the first of them also where one alone is due. Floats differ: a kernel that takes
// one for the other shows.
constexpr size_t kItems = kMostListItems;

std::array<double, kItems> Floats() {
  std::array<double, kItems> floats;
  for (size_t k = 0; k < kItems; ++k) floats[k] = 0.5 + 0.125 * static_cast<double>(k);
  return floats;
}

template <class T>
std::array<T, kItems> Repeated(T value) {
  std::array<T, kItems> items;
  items.fill(value);
  return items;
}

OpwrightAttr Harmless(int32_t type, int64_t length) {
  static const std::array<int64_t, kItems> kOnes = Repeated<int64_t>(1);
  static const std::array<double, kItems> kFloats = Floats();
  static const std::array<const char*, kItems> kWords = Repeated("x");
  static const std::array<OpwrightAttr, kItems> kLists =
      Repeated<OpwrightAttr>({kOpwrightAttrListInt, 0, 1, {.data = kOnes.data()}});
  OpwrightAttr attr = {};
  attr.type = type;
  switch (type) {
    case kOpwrightAttrInt:
    case kOpwrightAttrBool:
      attr.value.i = kOnes[0];
      return attr;
    case kOpwrightAttrFloat:
      attr.value.f = kFloats[0];
      return attr;
    case kOpwrightAttrString:
      attr.value.s = kWords[0];
      attr.size = 1;
      return attr;
    case kOpwrightAttrType:
      attr.value.s = "float32";
      attr.size = 7;
      return attr;
    case kOpwrightAttrListFloat:
      attr.value.data = kFloats.data();
      break;
    case kOpwrightAttrListString:
      attr.value.data = kWords.data();
      break;
    case kOpwrightAttrListListInt:
      attr.value.data = kLists.data();
      break;
    default:
      attr.value.data = kOnes.data();
  }
  attr.size = std::clamp<int64_t>(length, 1, kMostListItems);
  return attr;
}

OpwrightAttr First(const OpwrightAttrDef& def, int64_t length = 1) {
  return def.required != 0 ? Harmless(def.type, length) : def.default_value;
}

// Defaults below are no axes, but numbers that nothing else is: ignore_index = -100.
constexpr int64_t kLeastAxis = -8;
// A refused call is tried with so many attributes alone.
constexpr size_t kMostAloneTries = 4;

bool IsSame(const OpwrightAttr& a, const OpwrightAttr& b) {
  if (a.type != b.type) return false;
  return a.type == kOpwrightAttrFloat ? a.value.f == b.value.f : a.value.i == b.value.i;
}

void MoveOn(OpwrightAttr* attr) {
  if (attr->type == kOpwrightAttrFloat)
    attr->value.f *= 1.25;
  else
    attr->value.i += attr->value.i == INT64_MAX ? INT64_MIN : 1;
}

// Of the same sign and size, so that an operator that takes the first probably takes it; the axis
// after the first one's.
OpwrightAttr NextOf(const OpwrightAttrDef& def, bool middle) {
  OpwrightAttr attr = First(def);
  if (attr.type == kOpwrightAttrFloat)
    attr.value.f = attr.value.f == 0 ? 0.75 : attr.value.f * 1.75;
  else if (attr.type == kOpwrightAttrBool)
    attr.value.i = attr.value.i == 0 ? 1 : 0;
  else if ((middle && MayBeAxis(def)) || attr.value.i < kLeastAxis)
    attr.value.i = 1;  // a middle axis; one of the integers that inputs hold
  else
    MoveOn(&attr);
  return attr;
}

bool HasNameOfAxis(const OpwrightAttrDef& def) {
  const std::string_view name = def.name;
  return name.find("axis") != name.npos || name.find("dim") != name.npos;
}

// Axes before others, which may be as large as one likes.
std::vector<int32_t> AxesFirst(const OpwrightOpDef& def) {
  std::vector<int32_t> order = AttrsWithSecond(def);
  std::stable_partition(order.begin(), order.end(),
                        [&](int32_t i) { return HasNameOfAxis(*def.attrs[i]); });
  return order;
}

// Of all attributes; the first one where there is no other.
std::vector<OpwrightAttr> SecondsOf(const OpwrightOpDef& def, bool middle) {
  std::vector<OpwrightAttr> seconds;
  for (int32_t i = 0; i < def.num_attrs; ++i) seconds.push_back(First(*def.attrs[i]));
  std::vector<OpwrightAttr> taken;
  for (const int32_t i : AxesFirst(def)) {
    OpwrightAttr& attr = seconds[static_cast<size_t>(i)];
    const OpwrightAttr first = attr;
    attr = NextOf(*def.attrs[i], middle);
    const auto is_same = [&](const OpwrightAttr& other) { return IsSame(other, attr); };
    // No more often than there can be others: an infinity stays where it is.
    for (size_t k = 0; k <= taken.size() && attr.type != kOpwrightAttrBool; ++k)
      if (is_same(first) || std::any_of(taken.begin(), taken.end(), is_same)) MoveOn(&attr);
    taken.push_back(attr);
  }
  return seconds;
}

bool Has(const SecondValues& second, int32_t i) { return i < 64 && (second.which >> i & 1) != 0; }

// "name=value" of those that are wanted.
std::string AttrsText(const OpwrightOpDef& def, const SecondValues& second,
                      const std::function<bool(int32_t)>& wanted) {
  std::vector<std::string> parts;
  const std::vector<OpwrightAttr> attrs = MakeAttrs(def, second);
  for (int32_t i = 0; i < def.num_attrs; ++i)
    if (wanted(i))
      parts.push_back(StrCat(def.attrs[i]->name, "=", AttrText(attrs[static_cast<size_t>(i)])));
  return Join(parts, ", ");
}

SecondValues Alone(int32_t attr, bool middle) { return {uint64_t{1} << attr, middle}; }

}  // namespace

std::vector<int32_t> AttrsWithSecond(const OpwrightOpDef& def) {
  std::vector<int32_t> attrs;
  for (int32_t i = 0; i < def.num_attrs; ++i)
    if (HasSecond(def, i)) attrs.push_back(i);
  return attrs;
}

bool MayBeAxis(const OpwrightAttrDef& def) {
  if (def.type != kOpwrightAttrInt) return false;
  const int64_t first = First(def).value.i;
  return first < 0 && first >= kLeastAxis;
}

std::vector<SecondValues> AttrChoices(const OpwrightOpDef& def, uint64_t seed, bool middle) {
  const std::vector<int32_t> attrs = AttrsWithSecond(def);
  if (attrs.empty()) return {{}};
  std::vector<SecondValues> choices;
  if (seed % 2 == 1) {
    choices.push_back({0, middle});
    for (const int32_t i : attrs) choices[0].which |= Alone(i, middle).which;
  } else {
    choices.emplace_back();
  }
  // An operator may refuse two together and take each alone, or take shapes with one only: another
  // first in each call.
  if (attrs.size() > 1 || seed % 2 == 0)
    for (size_t k = 0; k < std::min(attrs.size(), kMostAloneTries); ++k)
      choices.push_back(Alone(attrs[(seed / 2 + k) % attrs.size()], middle));
  if (seed % 2 == 1) choices.emplace_back();
  return choices;
}

std::vector<SecondValues> AloneChoices(int32_t attr, bool middle) {
  return {Alone(attr, middle), {}};
}

std::vector<OpwrightAttr> MakeAttrs(const OpwrightOpDef& def, const SecondValues& second) {
  std::vector<OpwrightAttr> attrs = SecondsOf(def, second.middle);
  for (int32_t i = 0; i < def.num_attrs; ++i)
    if (!Has(second, i)) attrs[static_cast<size_t>(i)] = First(*def.attrs[i], second.length);
  return attrs;
}

bool HasRequiredList(const OpwrightOpDef& def) {
  return std::any_of(def.attrs, def.attrs + def.num_attrs, [](const OpwrightAttrDef* attr) {
    return attr->required != 0 && IsListAttr(attr->type);
  });
}

std::string RequiredText(const OpwrightOpDef& def, const SecondValues& second) {
  return AttrsText(def, second,
                   [&](int32_t i) { return def.attrs[i]->required != 0 && !Has(second, i); });
}

std::string SecondValuesText(const OpwrightOpDef& def, const SecondValues& second) {
  return AttrsText(def, second, [&](int32_t i) { return Has(second, i); });
}

}  // namespace opwright::check

// SPDX-License-Identifier: Apache-2.0
//
// Shape lists of inputs and outputs.
#include "base/text.h"
#include "metadef/field_checks.h"
#include "metadef/reserved.h"
#include "opwright/c_api.h"

namespace opwright::metadef {
namespace {

constexpr std::string_view kEntry = "-1, a number of at least 0 or a name";

bool IsAnyRank(const JsonValue& entry) { return entry.is(JsonKind::kInt) && entry.integer == -2; }
bool IsEllipsis(const JsonValue& entry) {
  return entry.is(JsonKind::kString) && entry.string == "...";
}

bool LooksLikeNumber(const std::string& text) {
  return !text.empty() && text.find_first_not_of("+-0123456789. ") == text.npos &&
         text.find_first_of("0123456789") != text.npos;
}

bool Bad(Checker& checker, std::string_view id, const JsonValue& at, std::string message,
         std::string hint) {
  checker.Error(id, at, std::move(message), std::move(hint));
  return false;
}

bool CheckEntry(Checker& checker, const JsonValue& entry, size_t position, size_t count,
                const std::string& path) {
  const std::string found = StrCat(path, " is ", Describe(entry));
  if (entry.is(JsonKind::kInt)) {
    if (entry.out_of_range)
      return Bad(checker, "MD020", entry, found, "write -1 for an unknown one");
    if (entry.integer >= -1) return true;
    if (entry.integer == -2 && count == 1) return true;
    if (entry.integer == -2)
      return Bad(checker, "MD021", entry,
                 StrCat(path, " is -2, any rank, which can only stand alone"),
                 "write [-2], or a leading \"...\" for any further dimensions in front");
    return Bad(checker, "MD020", entry, StrCat(found, ", expected ", kEntry),
               "write -1 for an unknown dimension");
  }
  if (entry.is(JsonKind::kString)) {
    if (IsEllipsis(entry)) {
      if (position == 0) return true;
      return Bad(checker, "MD022", entry, StrCat(path, " is \"...\", which can only come first"),
                 "write it as the first entry, or [-2] for any rank");
    }
    if (LooksLikeNumber(entry.string))
      return Bad(checker, "MD020", entry, StrCat(found, ", a number in quotes, expected ", kEntry),
                 StrCat("write ", entry.string, " without quotes"));
    if (!IsSymbolName(entry.string))
      return Bad(checker, "MD020", entry, StrCat(found, ", expected ", kEntry),
                 "a name has letters, digits and underscores, and no digit first");
    if (Contains(RuleFunctions(), entry.string))
      return Bad(checker, "MD012", entry,
                 StrCat(path, ": \"", entry.string, "\" is a function of shape rules"),
                 "take another name");
    return true;
  }
  return Bad(checker, "MD020", entry, StrCat(found, ", expected ", kEntry),
             entry.is(JsonKind::kNull) ? "write -1 for an unknown dimension" : "");
}

}  // namespace

std::string ShapeText(const Shape& shape) {
  if (shape.any_leading && shape.dims.empty()) return "[-2]";
  std::vector<std::string> entries;
  if (shape.any_leading) entries.emplace_back("\"...\"");
  for (const Dim& dim : shape.dims)
    entries.push_back(dim.symbol.empty() ? StrCat(dim.value) : JsonQuote(dim.symbol));
  return StrCat("[", Join(entries, ", "), "]");
}

bool CheckShape(Checker& checker, const JsonValue& value, const std::string& path) {
  if (!value.is(JsonKind::kList)) {
    std::string hint;
    if (value.is(JsonKind::kInt) && !value.out_of_range)
      hint = StrCat("write [", value.integer, "]");
    if (value.is(JsonKind::kString)) hint = StrCat("write [", JsonQuote(value.string), "]");
    return WrongType(checker, value, path, "a list of dimensions", std::move(hint));
  }
  bool good = true;
  for (size_t i = 0; i < value.items.size(); ++i)
    good &= CheckEntry(checker, value.items[i], i, value.items.size(), StrCat(path, "[", i, "]"));
  const size_t dims = value.items.size() - (!value.items.empty() && IsEllipsis(value.items[0]));
  if (dims > OPWRIGHT_MAX_RANK)
    return Bad(
        checker, "MD020", value,
        StrCat(path, " has ", dims, " dimensions, at most ", OPWRIGHT_MAX_RANK, " are possible"),
        "");
  return good;
}

Shape ReadShape(const JsonValue& value) {
  Shape shape;
  for (const JsonValue& entry : value.items) {
    if (IsEllipsis(entry) || IsAnyRank(entry)) {
      shape.any_leading = true;
    } else if (entry.is(JsonKind::kString)) {
      shape.dims.push_back({-1, entry.string});
    } else {
      shape.dims.push_back({entry.integer, ""});
    }
  }
  return shape;
}

}  // namespace opwright::metadef

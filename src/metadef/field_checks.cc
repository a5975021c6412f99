// SPDX-License-Identifier: Apache-2.0
#include "metadef/field_checks.h"

#include <algorithm>

#include "base/text.h"
#include "metadef/reserved.h"
#include "opwright/c_api.h"

namespace opwright::metadef {
namespace {

// Nothing where no choice is near. Of a dtype the type of attributes that holds it: "float" of
// "double".
std::string SuggestChoice(std::string_view word, std::span<const std::string_view> choices) {
  for (const DTypeSpelling& spelling : DTypeSpellings()) {
    if (spelling.written != word) continue;
    const std::string_view type =
        spelling.canonical.substr(0, spelling.canonical.find_first_of("0123456789"));
    if (std::find(choices.begin(), choices.end(), type) != choices.end())
      return StrCat("write \"", type, "\"");
  }
  const std::vector<std::string> candidates(choices.begin(), choices.end());
  return Nearest(word, candidates).empty() ? "" : SuggestName(word, choices);
}

// "ElementAdd", "element-add" and "2add" have a snake name near by.
std::string SnakeSuggestion(const std::string& written) {
  std::string word = SnakeCase(written);
  for (char& c : word)
    if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) c = '_';
  while (!word.empty() && !(word[0] >= 'a' && word[0] <= 'z')) word.erase(0, 1);
  if (word.size() > kMaxNameLength) word.resize(kMaxNameLength);
  while (!word.empty() && word.back() == '_') word.pop_back();
  return IsSnakeName(word) ? StrCat("write \"", word, "\"") : "";
}

std::string_view Refusal(FieldKind kind, std::string_view name) {
  if (Contains(Keywords(), name)) return "is a keyword of C, C++ or Python";
  if (kind == FieldKind::kOpName && Contains(LibraryNames(), name))
    return "is a function of the C or maths library";
  if (kind == FieldKind::kOpName && name.starts_with("opwright_"))
    return "is a name of Opwright's own in every library";
  if (kind == FieldKind::kOpName && Contains(HiddenOperatorNames(), name))
    return "is an attribute where operators are listed, acl.ops or a namespace of torch.ops";
  if (kind == FieldKind::kName && Contains(ArgumentNames(), name))
    return "is an argument that Opwright or a framework passes itself";
  if (kind == FieldKind::kNamespace && Contains(TakenNamespaces(), name))
    return "is a name of torch.ops itself";
  return "";
}

const char* EntriesHint(const JsonValue& value) {
  return value.is(JsonKind::kString) ? "write it as a list of one" : "";
}

// A list of at least one string.
bool CheckNonEmptyStrings(Checker& checker, const JsonValue& value, const std::string& path,
                          std::string_view what) {
  if (!value.is(JsonKind::kList)) {
    return WrongType(
        checker, value, path, StrCat("a list of ", what),
        value.is(JsonKind::kString) ? StrCat("write [", JsonQuote(value.string), "]") : "");
  }
  if (value.items.empty()) {
    checker.Error("MD018", value, StrCat(path, " is an empty list, expected at least one entry"),
                  "an entry stands for one column; one entry stands for all columns");
    return false;
  }
  bool good = true;
  for (size_t i = 0; i < value.items.size(); ++i)
    if (!value.items[i].is(JsonKind::kString))
      good = WrongType(checker, value.items[i], StrCat(path, "[", i, "]"), "a string");
  return good;
}

}  // namespace

bool WrongType(Checker& checker, const JsonValue& value, const std::string& path,
               std::string_view expected, std::string hint) {
  checker.Error("MD007", value, StrCat(path, " is ", Describe(value), ", expected ", expected),
                std::move(hint));
  return false;
}

bool CheckName(Checker& checker, FieldKind kind, const JsonValue& value, const std::string& path) {
  if (!value.is(JsonKind::kString)) return WrongType(checker, value, path, "a string");
  const std::string& name = value.string;
  if (!IsSnakeName(name)) {
    std::string message = StrCat(path, " is ", Describe(value), ", expected ");
    message += name.size() > kMaxNameLength
                   ? StrCat("at most ", kMaxNameLength, " characters")
                   : "a small letter, then small letters, digits and underscores";
    checker.Error("MD011", value, std::move(message), SnakeSuggestion(name));
    return false;
  }
  const std::string_view refusal = Refusal(kind, name);
  if (!refusal.empty()) {
    checker.Error("MD012", value, StrCat(path, ": \"", name, "\" ", refusal),
                  StrCat("take another name, \"", name,
                         kind == FieldKind::kName ? "_in\" for one" : "_op\" for one"));
    return false;
  }
  return true;
}

bool CheckChoice(Checker& checker, std::span<const std::string_view> choices,
                 const JsonValue& value, const std::string& path) {
  if (!value.is(JsonKind::kString)) return WrongType(checker, value, path, "a string");
  std::vector<std::string> quoted;
  for (std::string_view choice : choices) {
    if (value.string == choice) return true;
    quoted.push_back(StrCat("\"", choice, "\""));
  }
  checker.Error("MD008", value,
                StrCat(path, " is ", Describe(value), ", expected ",
                       quoted.size() > 1 ? "one of " : "", Join(quoted, ", ")),
                SuggestChoice(value.string, choices));
  return false;
}

bool CheckDTypes(Checker& checker, const JsonValue& value, const std::string& path) {
  if (!CheckNonEmptyStrings(checker, value, path, "dtypes")) return false;
  bool good = true;
  for (size_t i = 0; i < value.items.size(); ++i) {
    const std::string& name = value.items[i].string;
    if (!CanonicalDType(name).empty()) continue;
    std::vector<std::string_view> names;
    for (const DTypeSpelling& row : DTypeSpellings()) names.push_back(row.written);
    checker.Error("MD015", value.items[i],
                  StrCat(path, "[", i, "]: ", JsonQuote(name), " is no dtype"),
                  SuggestName(name, names));
    good = false;
  }
  return good;
}

bool CheckFormats(Checker& checker, const JsonValue& value, const std::string& path) {
  if (!CheckNonEmptyStrings(checker, value, path, "formats")) return false;
  bool good = true;
  for (size_t i = 0; i < value.items.size(); ++i) {
    const std::string& name = value.items[i].string;
    bool known = false;
    for (std::string_view format : FormatNames()) known |= name == format;
    if (known) continue;
    checker.Error("MD016", value.items[i],
                  StrCat(path, "[", i, "]: ", JsonQuote(name), " is no format"),
                  SuggestName(name, FormatNames()));
    good = false;
  }
  return good;
}

bool CheckStringList(Checker& checker, const JsonValue& value, const std::string& path) {
  if (!value.is(JsonKind::kList))
    return WrongType(checker, value, path, "a list of names", EntriesHint(value));
  bool good = true;
  for (size_t i = 0; i < value.items.size(); ++i)
    if (!value.items[i].is(JsonKind::kString))
      good = WrongType(checker, value.items[i], StrCat(path, "[", i, "]"), "a name");
  return good;
}

}  // namespace opwright::metadef

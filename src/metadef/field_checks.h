// SPDX-License-Identifier: Apache-2.0
//
// The checks of single values, one for each kind of field. Each reports what it finds and returns
// whether the value is right. path names the value in messages: "input_desc[0].dtype".
#pragma once

#include <string>

#include "metadef/checker.h"
#include "metadef/fields.h"

namespace opwright::metadef {

// A snake name; kind is kOpName, kName or kNamespace and says which words are refused.
bool CheckName(Checker& checker, FieldKind kind, const JsonValue& value, const std::string& path);
bool CheckChoice(Checker& checker, std::span<const std::string_view> choices,
                 const JsonValue& value, const std::string& path);
bool CheckDTypes(Checker& checker, const JsonValue& value, const std::string& path);
bool CheckFormats(Checker& checker, const JsonValue& value, const std::string& path);
bool CheckShape(Checker& checker, const JsonValue& value, const std::string& path);
bool CheckStringList(Checker& checker, const JsonValue& value, const std::string& path);

// The type error, in one form of words. Returns false.
bool WrongType(Checker& checker, const JsonValue& value, const std::string& path,
               std::string_view expected, std::string hint = "");

// A shape that CheckShape has passed.
Shape ReadShape(const JsonValue& value);

}  // namespace opwright::metadef

// SPDX-License-Identifier: Apache-2.0
//
// Short ways to write a metadef in a test and to compare what is said about it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/file.h"
#include "base/text.h"
#include "metadef/metadef.h"

namespace opwright::metadef {

inline std::string Param1(std::string_view name, std::string_view dtypes, std::string_view shape,
                          std::string_view more = "") {
  return StrCat("{\"name\": \"", name, "\", \"dtype\": ", dtypes, ", \"shape\": ", shape, more,
                "}");
}

inline std::string Float(std::string_view name, std::string_view shape = "[-2]",
                         std::string_view more = "") {
  return Param1(name, "[\"float32\"]", shape, more);
}

// more: further fields, with a comma in front.
inline std::string Op(std::string_view inputs, std::string_view outputs, std::string_view more = "",
                      std::string_view name = "test_op") {
  return StrCat("{\"op_name\": \"", name, "\", \"input_desc\": [", inputs, "], \"output_desc\": [",
                outputs, "]", more, "}");
}

// "LINE:COL ID", one for each diagnostic.
inline std::vector<std::string> Places(const std::string& text) {
  std::vector<std::string> places;
  for (const Diagnostic& d : Read(text, "t.json").diagnostics)
    places.push_back(StrCat(d.line, ":", d.column, " ", d.id));
  return places;
}

// The ids alone.
inline std::vector<std::string> Ids(const std::string& text) {
  std::vector<std::string> ids;
  for (const Diagnostic& d : Read(text, "t.json").diagnostics) ids.push_back(d.id);
  return ids;
}

// The only diagnostic, rendered without the file name.
inline std::string Only(const std::string& text) {
  const ReadResult result = Read(text, "");
  EXPECT_EQ(result.diagnostics.size(), 1u) << text;
  return result.diagnostics.empty() ? "" : Render(result.diagnostics[0]);
}

// The operators of a text without errors.
inline std::vector<Operator> Good(const std::string& text) {
  ReadResult result = Read(text, "t.json");
  for (const Diagnostic& d : result.diagnostics) ADD_FAILURE() << Render(d) << "\n" << text;
  return std::move(result.operators);
}

}  // namespace opwright::metadef

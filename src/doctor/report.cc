// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/text.h"
#include "doctor/doctor.h"
#include "opwright/c_api.h"

namespace opwright::doctor {
namespace {

const char* LevelName(Level level) {
  switch (level) {
    case Level::kOk:
      return "ok";
    case Level::kNote:
      return "note";
    case Level::kWarning:
      return "warning";
    case Level::kError:
      return "error";
  }
  return "";
}

std::string Padded(std::string text, size_t width) {
  text.resize(std::max(text.size(), width), ' ');
  return text;
}

std::string Line(const Finding& finding, size_t width, bool color) {
  constexpr size_t kLevelWidth = 7;  // of "warning"
  std::string level = Padded(LevelName(finding.level), kLevelWidth);
  if (color && finding.level == Level::kError) level = StrCat("\033[31m", level, "\033[0m");
  if (color && finding.level == Level::kWarning) level = StrCat("\033[33m", level, "\033[0m");
  std::string line =
      StrCat("  ", level, "  ", Padded(finding.check, width), "  ", ValidUtf8(finding.found), "\n");
  if (!finding.cure.empty())
    line += StrCat("  ", Padded("", kLevelWidth), "  ", Padded("", width),
                   "  cure: ", ValidUtf8(finding.cure), "\n");
  return line;
}

}  // namespace

std::string RenderText(const Report& report, bool color) {
  size_t width = 0;
  for (const Area& area : report.areas)
    for (const Finding& finding : area.findings) width = std::max(width, finding.check.size());
  std::string text;
  for (const Area& area : report.areas) {
    text += StrCat(area.name, "\n");
    for (const Finding& finding : area.findings) text += Line(finding, width, color);
  }
  const int errors = report.Count(Level::kError);
  const int warnings = report.Count(Level::kWarning);
  const int notes = report.Count(Level::kNote);
  return StrCat(text, errors + warnings == 0 ? "nothing is wrong: " : "", Count(errors, "error"),
                ", ", Count(warnings, "warning"), ", ", Count(notes, "note"), "\n");
}

std::string RenderJson(const Report& report) {
  std::vector<std::string> lines;
  for (const Area& area : report.areas)
    for (const Finding& finding : area.findings)
      lines.push_back(StrCat("{\"area\": ", JsonQuote(area.name),
                             ", \"check\": ", JsonQuote(finding.check), ", \"level\": \"",
                             LevelName(finding.level), "\", \"found\": ", JsonQuote(finding.found),
                             ", \"cure\": ", JsonQuote(finding.cure), "}"));
  return StrCat("{\n  \"opwright\": ", JsonQuote(opwright_version()),
                ",\n  \"python\": ", JsonQuote(report.python),
                ",\n  \"errors\": ", report.Count(Level::kError),
                ",\n  \"warnings\": ", report.Count(Level::kWarning),
                ",\n  \"notes\": ", report.Count(Level::kNote), ",\n  \"findings\": [\n    ",
                Join(lines, ",\n    "), "\n  ]\n}\n");
}

}  // namespace opwright::doctor

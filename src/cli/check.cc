// SPDX-License-Identifier: Apache-2.0
#include "cli/check.h"

#include <cstdio>

namespace opwright::cli {

int RunCheck(const std::string& path, const check::Options& options, const std::string& format) {
  const Expected<check::Report> report = check::CheckLibrary(path, options);
  if (!report.ok()) {
    if (format == "json")
      std::fputs(check::RenderJson(path, options.seed, report.error()).c_str(), stdout);
    std::fprintf(stderr, "error: %s\n", report.error().Text().c_str());
    return 2;
  }
  const std::string out =
      format == "json" ? check::RenderJson(*report) : check::RenderText(*report);
  std::fwrite(out.data(), 1, out.size(), stdout);
  return report->verdict() == check::Verdict::kRight   ? 0
         : report->verdict() == check::Verdict::kWrong ? 1
                                                       : 2;
}

}  // namespace opwright::cli

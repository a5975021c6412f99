// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor.h"

#include <cstdio>

namespace opwright::cli {

int RunDoctor(const doctor::Options& options, const std::string& format, bool color) {
  const doctor::Report report = doctor::Examine(options);
  const std::string out =
      format == "json" ? doctor::RenderJson(report) : doctor::RenderText(report, color);
  std::fwrite(out.data(), 1, out.size(), stdout);
  std::fflush(stdout);
  return report.Count(doctor::Level::kError) == 0 ? 0 : 1;
}

}  // namespace opwright::cli

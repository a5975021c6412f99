// SPDX-License-Identifier: Apache-2.0
#include "cli/build.h"

#include <cstdio>

namespace opwright::cli {

Expected<build::Result> BuildAndTell(const build::Request& request) {
  Expected<build::Result> result = build::Build(request);
  if (!result.ok()) {
    std::fprintf(stderr, "error: %s\n", result.error().Text().c_str());
    return result;
  }
  for (const Diagnostic& warning : result->warnings)
    std::fprintf(stderr, "%s\n", Render(warning).c_str());
  if (request.verbose)
    for (const std::string& command : result->commands)
      std::fprintf(stderr, "%s\n", command.c_str());
  if (result->cache_hit) std::fprintf(stderr, "cache hit: nothing was compiled\n");
  return result;
}

int RunBuild(const build::Request& request) {
  Expected<build::Result> result = BuildAndTell(request);
  if (!result.ok()) return 1;
  std::printf("%s\n", result->path.c_str());
  return 0;
}

}  // namespace opwright::cli

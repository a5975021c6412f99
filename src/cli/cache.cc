// SPDX-License-Identifier: Apache-2.0
#include "cli/cache.h"

#include <cstdio>

#include "base/cache_folder.h"
#include "base/file.h"
#include "base/text.h"
#include "build/cache.h"

namespace opwright::cli {
namespace {

std::string Describe(const build::CacheSize& size) {
  char megabytes[32];
  std::snprintf(megabytes, sizeof megabytes, "%.1f MB", static_cast<double>(size.bytes) / 1e6);
  return StrCat(Count(size.files, "file"), ", ", megabytes);
}

}  // namespace

int RunCache(const std::string& verb) {
  const std::string root = CacheFolderPath();
  if (verb == "path") {
    std::printf("%s\n", root.c_str());
    return 0;
  }
  if (verb == "size") {
    std::printf("%s in %s\n", Describe(build::MeasureCache(root)).c_str(), root.c_str());
    return 0;
  }
  if (!IsDirectory(root)) {
    std::printf("there is no cache at %s\n", root.c_str());
    return 0;
  }
  // The check that the folder is this user's own comes before anything is removed.
  if (Expected<UsableCache> usable = OpenCacheFolder({}); !usable.ok()) {
    std::fprintf(stderr, "error: %s\n", usable.error().Text().c_str());
    return 1;
  }
  Expected<build::CacheSize> cleared = build::ClearCache(root);
  if (!cleared.ok()) {
    std::fprintf(stderr, "error: %s\n", cleared.error().Text().c_str());
    return 1;
  }
  std::printf("removed %s from %s\n", Describe(*cleared).c_str(), root.c_str());
  return 0;
}

}  // namespace opwright::cli

// SPDX-License-Identifier: Apache-2.0
//
// The cache folder: $OPWRIGHT_CACHE, else $XDG_CACHE_HOME/opwright, else ~/.cache/opwright; mode
// 0700, refused when others can write to it; $TMPDIR/opwright-cache-UID where it cannot be used, or
// there is no home.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/file.h"

namespace opwright {

// Below it. What was built: libraries, objects, what each was made from, what is known of compilers
// and files, compiler output, what is being written; then copies of libraries that are mapped, and
// the files of the MindSpore adapter.
inline constexpr const char* kCacheEntries[] = {"lib", "obj", "manifest", "tool",
                                                "log", "tmp", "loaded",   "mindspore"};

// The path, whether it is there or not.
std::string CacheFolderPath();

struct UsableCache {
  std::string root;
  // Why it is not CacheFolderPath(), but a folder of this user below the temporary one (CA004); ""
  // when it is.
  std::string reason;

  // What comes of the reason.
  std::string Consequence() const;
};

// Makes the folder and those named below it, all to be written to; where that cannot be, the same
// in the one place that stands in for it, for whoever asks. CA001: it belongs to somebody else or
// others can write to it. CA002: neither can be made or written.
Expected<UsableCache> OpenCacheFolder(std::span<const char* const> below);

// One folder below it.
Expected<std::string> CacheFolder(const std::string& below);

// A lock file in the folder. CA003.
Expected<FileLock> LockCache(const std::string& root, std::string_view name, FileLock::Kind kind);

// Held shared by whoever goes by entries of the cache, and alone by what removes them.
inline Expected<FileLock> LockEntries(const std::string& root, FileLock::Kind kind) {
  return LockCache(root, "entries", kind);
}

}  // namespace opwright

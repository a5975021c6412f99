// SPDX-License-Identifier: Apache-2.0
//
// The cache: a folder of one's own, where files are named by the hash of what they were made from
// and are checked before use.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/file.h"

namespace opwright::build {

class Cache {
 public:
  // The folder of base/cache_folder.h. One that cannot be made or written is answered by a folder
  // of this user below the system's temporary folder, with a warning; one that is not safe is
  // refused.
  static Expected<Cache> Open();
  // One in a folder that is there and is the caller's own, for a build of which nothing is kept.
  static Expected<Cache> In(const std::string& folder);

  const std::string& root() const { return root_; }
  const std::vector<Diagnostic>& warnings() const { return warnings_; }

  // Folders by use; they exist.
  std::string Libraries() const { return Folder("lib"); }
  std::string Objects() const { return Folder("obj"); }
  std::string Manifests() const { return Folder("manifest"); }
  std::string Tools() const { return Folder("tool"); }
  std::string Logs() const { return Folder("log"); }
  std::string Temporary() const { return Folder("tmp"); }

  // The SHA-256 of a file that seldom changes: a large one is hashed again only when its size, time
  // or place changes. The error has no id, as ReadFile's.
  Expected<std::string> ContentHash(const std::string& path) const;

  // What was found out of a compiler or a file, kept under a name in Tools(), with its sum: nothing
  // when it is not there or damaged. That it cannot be kept is no failure.
  std::optional<std::string> Kept(const std::string& name) const;
  void Keep(const std::string& name, const std::string& text) const;

  // Held while one key is built: the others wait and then find it.
  Expected<FileLock> Lock(std::string_view key) const;

 private:
  explicit Cache(std::string root) : root_(std::move(root)) {}
  std::string Folder(std::string_view name) const { return JoinPath(root_, name); }

  std::string root_;
  std::vector<Diagnostic> warnings_;
};

// Moves a finished file to its place in the cache, and writes down its size and hash beside it.
Status Publish(const std::string& made, const std::string& place);

enum class Presence { kAbsent, kWhole, kDamaged };

// Whether a published file is there and is what was published.
Presence CheckPublished(const std::string& place);

struct CacheSize {
  int64_t files = 0;
  int64_t bytes = 0;
};
CacheSize MeasureCache(const std::string& root);

// Removes what Opwright puts there, and nothing else: how much that was. Folders and lock files
// stay for running builds. Waits for whoever holds LockEntries.
Expected<CacheSize> ClearCache(const std::string& root);

}  // namespace opwright::build

// SPDX-License-Identifier: Apache-2.0
#include "build/cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/cache_folder.h"
#include "base/sha256.h"
#include "base/text.h"

namespace opwright::build {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kMagic = "opwright cache entry 1";

std::string SumFile(const std::string& place) { return place + ".sum"; }

std::string SumText(int64_t size, const std::string& hash) {
  return StrCat(kMagic, "\nsize ", size, "\nsha256 ", hash, "\n");
}

}  // namespace

Expected<Cache> Cache::Open() {
  Expected<UsableCache> usable = OpenCacheFolder(kCacheEntries);
  if (!usable.ok()) return usable.TakeError();
  Cache cache(usable->root);
  if (usable->reason.empty()) return cache;
  Diagnostic warning;
  warning.id = "CA004";
  warning.severity = Severity::kWarning;
  warning.message = usable->reason;
  warning.hint = usable->Consequence();
  cache.warnings_.push_back(std::move(warning));
  return cache;
}

Expected<Cache> Cache::In(const std::string& folder) {
  for (const char* name : kCacheEntries)
    if (Status made = MakeFolders(JoinPath(folder, name), 0700); !made.ok())
      return WithId(made.TakeError(), "CA002");
  return Cache(folder);
}

Expected<std::string> Cache::ContentHash(const std::string& path) const {
  constexpr off_t kSmall = 64 << 10;
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return MakeError("", DescribeMissing(path, "read", errno));
  if (info.st_size <= kSmall) return Sha256OfFile(path);
  const std::string place =
      StrCat(path, " ", info.st_dev, " ", info.st_ino, " ", info.st_size, " ", info.st_mtim.tv_sec,
             ".", info.st_mtim.tv_nsec, " ", info.st_ctim.tv_sec, ".", info.st_ctim.tv_nsec);
  const std::string kept = StrCat(Sha256Hex(place).substr(0, 32), ".sha256");
  if (std::optional<std::string> known = Kept(kept)) return *known;
  Expected<std::string> hash = Sha256OfFile(path);
  if (hash.ok()) Keep(kept, *hash);
  return hash;
}

std::optional<std::string> Cache::Kept(const std::string& name) const {
  Expected<std::string> file = ReadFile(JoinPath(Tools(), name));
  if (!file.ok()) return std::nullopt;
  const size_t line = file->find('\n');
  if (line == file->npos) return std::nullopt;
  std::string text = file->substr(line + 1);
  if (file->substr(0, line) != Sha256Hex(text)) return std::nullopt;
  return text;
}

void Cache::Keep(const std::string& name, const std::string& text) const {
  (void)WriteFileAtomic(JoinPath(Tools(), name), StrCat(Sha256Hex(text), "\n", text), 0600);
}

Expected<FileLock> Cache::Lock(std::string_view key) const {
  // A fixed number of lock files: they cannot be removed safely, so they must not pile up.
  return LockCache(root_, key.substr(0, 3), FileLock::Kind::kAlone);
}

Status Publish(const std::string& made, const std::string& place) {
  Expected<std::string> hash = Sha256OfFile(made);
  if (!hash.ok()) return WithId(hash.TakeError(), "CA003");
  std::error_code failed;
  const auto size = static_cast<int64_t>(fs::file_size(made, failed));
  // The sum last: a file without one is taken as absent.
  if (Status moved = MoveFileAtomic(made, place); !moved.ok())
    return WithId(moved.TakeError(), "CA003");
  if (Status written = WriteFileAtomic(SumFile(place), SumText(size, *hash), 0600); !written.ok())
    return WithId(written.TakeError(), "CA003");
  return {};
}

Presence CheckPublished(const std::string& place) {
  Expected<std::string> sum = ReadFile(SumFile(place));
  if (!sum.ok()) return Presence::kAbsent;
  std::error_code failed;
  const auto size = static_cast<int64_t>(fs::file_size(place, failed));
  if (failed) return Presence::kAbsent;
  // The size first: it costs nothing and shows a truncated file.
  if (sum->find(StrCat("\nsize ", size, "\n")) == std::string::npos) return Presence::kDamaged;
  Expected<std::string> hash = Sha256OfFile(place);
  return hash.ok() && *sum == SumText(size, *hash) ? Presence::kWhole : Presence::kDamaged;
}

CacheSize MeasureCache(const std::string& root) {
  CacheSize size;
  std::error_code failed;
  for (fs::recursive_directory_iterator it(root, failed), end; !failed && it != end;
       it.increment(failed)) {
    std::error_code ignored;
    if (!it->is_regular_file(ignored)) continue;
    ++size.files;
    size.bytes += static_cast<int64_t>(it->file_size(ignored));
  }
  return size;
}

Expected<CacheSize> ClearCache(const std::string& root) {
  Expected<FileLock> alone = LockEntries(root, FileLock::Kind::kAlone);
  if (!alone.ok()) return alone.TakeError();
  const CacheSize before = MeasureCache(root);
  const auto now = fs::file_time_type::clock::now();
  for (const std::string_view name : kCacheEntries) {
    const std::string folder = JoinPath(root, name);
    for (const std::string& entry : ListFolder(folder)) {
      const std::string path = JoinPath(folder, entry);
      std::error_code failed;
      // A younger one may belong to a build that is running.
      if (name == "tmp" && now - fs::last_write_time(path, failed) < std::chrono::hours(1))
        continue;
      fs::remove_all(path, failed);
      if (failed) return MakeError("CA003", StrCat("cannot remove ", path, ": ", failed.message()));
    }
  }
  const CacheSize after = MeasureCache(root);
  return CacheSize{before.files - after.files, before.bytes - after.bytes};
}

}  // namespace opwright::build

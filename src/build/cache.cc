// SPDX-License-Identifier: Apache-2.0
#include "build/cache.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "base/sha256.h"
#include "base/text.h"

namespace opwright::build {
namespace fs = std::filesystem;
namespace {

constexpr const char* kFolders[] = {"lib", "obj", "manifest", "compiler", "log", "tmp", "lock"};
constexpr std::string_view kMagic = "opwright cache entry 1";

std::string SumFile(const std::string& place) { return place + ".sum"; }

std::string Home() {
  if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') return home;
  const passwd* user = getpwuid(geteuid());
  return user != nullptr && user->pw_dir != nullptr ? user->pw_dir : "/";
}

std::string Octal(mode_t mode) {
  return StrCat("0", (mode >> 6) & 7, (mode >> 3) & 7, mode & 7);
}

// Others' code would run as ours: whoever can write the cache writes the libraries.
Status CheckOwner(const std::string& root) {
  struct stat info {};
  if (stat(root.c_str(), &info) != 0) return {};
  if (!S_ISDIR(info.st_mode))
    return MakeError("CA003", StrCat("the cache ", root, " is no folder; set OPWRIGHT_CACHE to one"));
  if ((info.st_mode & 022) != 0)
    return MakeError("CA001", StrCat("the cache ", root, " can be written by others (mode ", Octal(info.st_mode),
                                     "), who could put code into it: chmod 700 ", root,
                                     ", or set OPWRIGHT_CACHE to a folder of your own"));
  if (info.st_uid != geteuid() && info.st_uid != 0)
    return MakeError("CA002", StrCat("the cache ", root, " belongs to user ", info.st_uid, " and this process to ",
                                     geteuid(), ": set OPWRIGHT_CACHE to a folder of your own"));
  return {};
}

std::string SumText(int64_t size, const std::string& hash) {
  return StrCat(kMagic, "\nsize ", size, "\nsha256 ", hash, "\n");
}

}  // namespace

std::string Cache::Location() {
  if (const char* given = std::getenv("OPWRIGHT_CACHE"); given != nullptr && *given != '\0')
    return AbsolutePath(given);
  if (const char* given = std::getenv("XDG_CACHE_HOME"); given != nullptr && *given == '/')
    return JoinPath(given, "opwright");
  return AbsolutePath(JoinPath(Home(), ".cache/opwright"));
}

Status Cache::Prepare(const std::string& root) {
  OPWRIGHT_RETURN_IF_ERROR(MakeFolders(root, 0700));
  for (const char* name : kFolders) {
    const std::string folder = JoinPath(root, name);
    OPWRIGHT_RETURN_IF_ERROR(MakeFolders(folder, 0700));
    if (access(folder.c_str(), W_OK | X_OK) != 0)
      return MakeError("", StrCat("cannot write ", folder, ": ", std::strerror(errno)));
  }
  return {};
}

Expected<Cache> Cache::Open() {
  const std::string root = Location();
  OPWRIGHT_RETURN_IF_ERROR(CheckOwner(root));
  Status prepared = Prepare(root);
  if (prepared.ok()) return Cache(root);

  const char* temporary = std::getenv("TMPDIR");
  Cache fallback(JoinPath(temporary != nullptr && *temporary != '\0' ? temporary : "/tmp",
                          StrCat("opwright-cache-", geteuid())));
  OPWRIGHT_RETURN_IF_ERROR(CheckOwner(fallback.root_));
  struct stat info {};
  const bool link = lstat(fallback.root_.c_str(), &info) == 0 && (S_ISLNK(info.st_mode) || info.st_uid != geteuid());
  Status second = link ? Status(MakeError("", StrCat(fallback.root_, " is not this user's own folder")))
                       : Prepare(fallback.root_);
  if (!second.ok())
    return MakeError("CA003", StrCat("no cache: ", prepared.error().message, "; and ", second.error().message,
                                     "; set OPWRIGHT_CACHE to a folder that can be written"));
  Diagnostic warning;
  warning.id = "CA004";
  warning.severity = Severity::kWarning;
  warning.message = StrCat("the cache ", root, " cannot be used: ", prepared.error().message);
  warning.hint = StrCat(fallback.root_, " is used instead; set OPWRIGHT_CACHE to a folder that can be written");
  fallback.warnings_.push_back(std::move(warning));
  return fallback;
}

Expected<FileLock> Cache::Lock(std::string_view key) const {
  // A fixed number of lock files: they cannot be removed safely, so they must not pile up.
  Expected<FileLock> lock = FileLock::Acquire(JoinPath(Folder("lock"), key.substr(0, 3)));
  if (!lock.ok()) return WithId(lock.TakeError(), "CA003");
  return lock;
}

Status Publish(const std::string& made, const std::string& place) {
  Expected<std::string> hash = Sha256OfFile(made);
  if (!hash.ok()) return WithId(hash.TakeError(), "CA003");
  std::error_code failed;
  const auto size = static_cast<int64_t>(fs::file_size(made, failed));
  // The sum last: a file without one is taken as absent.
  if (Status moved = MoveFileAtomic(made, place); !moved.ok()) return WithId(moved.TakeError(), "CA003");
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
  for (fs::recursive_directory_iterator it(root, failed), end; !failed && it != end; it.increment(failed)) {
    std::error_code ignored;
    if (!it->is_regular_file(ignored)) continue;
    ++size.files;
    size.bytes += static_cast<int64_t>(it->file_size(ignored));
  }
  return size;
}

Status ClearCache(const std::string& root) {
  OPWRIGHT_RETURN_IF_ERROR(CheckOwner(root));
  for (const char* name : kFolders) {
    // A lock that another process holds must stay the file that the next one opens.
    if (std::string_view(name) == "lock") continue;
    std::error_code failed;
    fs::remove_all(JoinPath(root, name), failed);
    if (failed) return MakeError("CA003", StrCat("cannot remove ", JoinPath(root, name), ": ", failed.message()));
  }
  return {};
}

}  // namespace opwright::build

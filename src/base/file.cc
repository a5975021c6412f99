// SPDX-License-Identifier: Apache-2.0
#include "base/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/environment.h"
#include "base/text.h"

namespace opwright {
namespace fs = std::filesystem;

std::string WorkingFolder() {
  std::error_code failed;
  return fs::current_path(failed).string();
}

std::string AbsolutePath(std::string_view path) {
  std::error_code failed;
  const fs::path absolute = fs::absolute(fs::path(path), failed);
  return failed ? std::string(path) : absolute.lexically_normal().string();
}

std::string DirName(std::string_view path) { return fs::path(path).parent_path().string(); }
std::string BaseName(std::string_view path) { return fs::path(path).filename().string(); }
std::string JoinPath(std::string_view folder, std::string_view name) {
  return (fs::path(folder) / fs::path(name)).string();
}

bool FileExists(const std::string& path) {
  std::error_code failed;
  return fs::exists(path, failed);
}

bool IsDirectory(const std::string& path) {
  std::error_code failed;
  return fs::is_directory(path, failed);
}

bool IsRegularFile(const std::string& path) {
  std::error_code failed;
  return fs::is_regular_file(path, failed);
}

bool IsPipe(const std::string& path) {
  std::error_code failed;
  return fs::is_fifo(path, failed);
}

std::vector<std::string> ListFolder(const std::string& path) {
  std::vector<std::string> names;
  DIR* const folder = opendir(path.c_str());
  if (folder == nullptr) return names;
  while (const dirent* entry = readdir(folder))
    if (const std::string_view name = entry->d_name; name != "." && name != "..")
      names.emplace_back(name);
  closedir(folder);
  std::sort(names.begin(), names.end());
  return names;
}

std::string DescribeMissing(std::string_view given, std::string_view verb, int error_number) {
  const std::string path = AbsolutePath(given);
  const std::string nearest =
      error_number == ENOENT ? Nearest(BaseName(path), ListFolder(DirName(path))) : "";
  return StrCat("cannot ", verb, " ", given, ": ", std::strerror(error_number), " (resolved to ",
                path, ", working folder ", WorkingFolder(), ")",
                nearest.empty() ? "" : StrCat("; did you mean ", nearest, "?"));
}

namespace {

Error FileError(std::string_view path, std::string_view verb, int error_number) {
  return MakeError("", DescribeMissing(path, verb, error_number));
}

Error NoRegularFile(std::string_view path, std::string_view verb) {
  return MakeError("", StrCat("cannot ", verb, " ", path,
                              ": it is a device, a pipe or a socket, not a file (resolved to ",
                              AbsolutePath(path), ")"));
}

// To the end, or more than most bytes. Closes fd.
Expected<std::string> ReadAll(int fd, const std::string& path, size_t expected, size_t most) {
  std::string bytes;
  bytes.reserve(expected);
  for (;;) {
    const size_t old = bytes.size();
    bytes.resize(std::max<size_t>(bytes.capacity(), old + 4096));
    const ssize_t n = read(fd, bytes.data() + old, bytes.size() - old);
    const int failed = n < 0 ? errno : 0;
    bytes.resize(old + (n > 0 ? static_cast<size_t>(n) : 0));
    if (failed == EINTR) continue;
    if (n > 0 && bytes.size() <= most) continue;
    close(fd);
    if (failed != 0) return FileError(path, "read", failed);
    return bytes;
  }
}

bool WriteAll(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return true;
}

}  // namespace

Expected<std::string> ReadFile(const std::string& path) {
  uint64_t inode = 0;
  return ReadFile(path, &inode);
}

Expected<std::string> ReadFile(const std::string& path, uint64_t* inode) {
  // A pipe that nobody writes to would not even open.
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return FileError(path, "read", errno);
  struct stat info{};
  const bool known = fstat(fd, &info) == 0;
  if (!known || !S_ISREG(info.st_mode)) {
    const Error error = !known                  ? FileError(path, "read", errno)
                        : S_ISDIR(info.st_mode) ? FileError(path, "read", EISDIR)
                                                : NoRegularFile(path, "read");
    close(fd);
    return error;
  }
  *inode = info.st_ino;
  return ReadAll(fd, path, static_cast<size_t>(info.st_size) + 1, SIZE_MAX);
}

Expected<std::string> ReadPipe(const std::string& path, size_t most) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return FileError(path, "read", errno);
  return ReadAll(fd, path, 0, most);
}

Status WriteFileAtomic(const std::string& path, std::string_view bytes, int mode) {
  // A device's node would be replaced by a file.
  if (FileExists(path) && !IsRegularFile(path) && !IsDirectory(path))
    return NoRegularFile(path, "write");
  std::string temp = path + ".XXXXXX";
  const int fd = mkostemp(temp.data(), O_CLOEXEC);
  if (fd < 0) return FileError(path, "write", errno);
  const bool written =
      WriteAll(fd, bytes) && fchmod(fd, static_cast<mode_t>(mode)) == 0 && fsync(fd) == 0;
  int failed = written ? 0 : errno;
  close(fd);
  if (failed == 0 && rename(temp.c_str(), path.c_str()) != 0) failed = errno;
  if (failed != 0) {
    unlink(temp.c_str());
    return FileError(path, "write", failed);
  }
  return {};
}

Status MoveFileAtomic(const std::string& from, const std::string& to) {
  if (rename(from.c_str(), to.c_str()) == 0) return {};
  if (errno != EXDEV) return FileError(to, "write", errno);
  struct stat info;
  if (stat(from.c_str(), &info) != 0) return FileError(from, "read", errno);
  Expected<std::string> bytes = ReadFile(from);
  if (!bytes.ok()) return bytes.TakeError();
  OPWRIGHT_RETURN_IF_ERROR(WriteFileAtomic(to, *bytes, info.st_mode & 0777));
  unlink(from.c_str());
  return {};
}

Status MakeFolders(const std::string& path, int mode) {
  if (IsDirectory(path)) return {};
  const std::string parent = DirName(path);
  if (!parent.empty() && parent != path) OPWRIGHT_RETURN_IF_ERROR(MakeFolders(parent, 0755));
  if (mkdir(path.c_str(), static_cast<mode_t>(mode)) != 0 && !IsDirectory(path))
    return FileError(path, "make the folder", errno);
  return {};
}

Expected<FileLock> FileLock::Acquire(const std::string& path, Kind kind) {
  const int fd = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (fd < 0) return FileError(path, "lock", errno);
  while (flock(fd, kind == Kind::kAlone ? LOCK_EX : LOCK_SH) != 0) {
    if (errno == EINTR) continue;
    const int failed = errno;
    close(fd);
    return FileError(path, "lock", failed);
  }
  return FileLock(fd);
}

FileLock::FileLock(FileLock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
FileLock& FileLock::operator=(FileLock&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}
FileLock::~FileLock() {
  if (fd_ >= 0) close(fd_);
}

Expected<TempFolder> TempFolder::Make(const std::string& parent) {
  std::string path = JoinPath(parent.empty() ? TemporaryFolder() : parent, "opwright-XXXXXX");
  if (mkdtemp(path.data()) == nullptr) return FileError(path, "make the folder", errno);
  return TempFolder(path);
}

TempFolder::~TempFolder() {
  if (path_.empty()) return;
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace opwright

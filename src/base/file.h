// SPDX-License-Identifier: Apache-2.0
//
// Files: read whole, written whole or not at all, locked between processes. Paths are UTF-8 bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace opwright {

// The error has no id, the caller gives the one of its area: WithId(file.TakeError(), "LD001"). Its
// message holds the path as given, as resolved, the working folder and the reason.
// Devices, pipes and sockets are refused: they may never end.
Expected<std::string> ReadFile(const std::string& path);
// With the number of the file that was open while it was read, 0 when it has none.
Expected<std::string> ReadFile(const std::string& path, uint64_t* inode);

// What comes out of a pipe; when it is more than most bytes, its begin.
Expected<std::string> ReadPipe(const std::string& path, size_t most);

// Writes a neighbour, syncs it and renames it over path, so that a reader sees the old file or the
// new one, and a mapping of the old one stays what it was. mode: the permission bits.
Status WriteFileAtomic(const std::string& path, std::string_view bytes, int mode = 0644);

// The same for a file that another program has written: moved into place (copied across file
// systems).
Status MoveFileAtomic(const std::string& from, const std::string& to);

// Absolute, without "." and ".." parts; symbolic links stay.
std::string AbsolutePath(std::string_view path);
std::string WorkingFolder();
std::string DirName(std::string_view path);
std::string BaseName(std::string_view path);
std::string JoinPath(std::string_view folder, std::string_view name);
bool FileExists(const std::string& path);
bool IsDirectory(const std::string& path);
bool IsRegularFile(const std::string& path);
bool IsPipe(const std::string& path);
// Names in a folder, sorted; empty when it cannot be read.
std::vector<std::string> ListFolder(const std::string& path);
Status MakeFolders(const std::string& path, int mode = 0755);

// "cannot read lib.so: No such file or directory (resolved to /x/lib.so, working folder /x)", with
// the name beside it that may be meant.
std::string DescribeMissing(std::string_view given, std::string_view verb, int error_number);

// A lock between processes and threads on a file that it makes: held alone, or shared by those who
// ask for kShared. Freed with the object.
class FileLock {
 public:
  enum class Kind { kAlone, kShared };
  static Expected<FileLock> Acquire(const std::string& path, Kind kind = Kind::kAlone);
  FileLock(FileLock&& other) noexcept;
  FileLock& operator=(FileLock&& other) noexcept;
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  explicit FileLock(int fd) : fd_(fd) {}
  int fd_ = -1;
};

// A folder of one's own below parent (or the system's), removed with the object.
class TempFolder {
 public:
  static Expected<TempFolder> Make(const std::string& parent = "");
  TempFolder(TempFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  TempFolder& operator=(TempFolder&& other) noexcept {
    std::swap(path_, other.path_);
    return *this;
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  ~TempFolder();
  const std::string& path() const { return path_; }

 private:
  explicit TempFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace opwright

// SPDX-License-Identifier: Apache-2.0
#include "build/manifest.h"

#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"

namespace opwright::build {
namespace {

constexpr std::string_view kMagic = "opwright manifest 2";

std::string State(const Searched& searched, const Rivals& rivals) {
  const std::string described = DescribeHeaders(searched.files);
  if (described.empty() && !searched.files.empty()) return "";
  return StrCat("state\n", described, "rivals\n", Join(rivals, "\n"), "\n");
}

}  // namespace

std::vector<std::string> ParseDependencies(std::string_view rule) {
  std::vector<std::string> paths;
  const size_t colon = rule.find(": ");
  if (colon == rule.npos) return paths;
  std::string path;
  const auto end_path = [&] {
    // Not normalised: "link/../x.h" is another file than "x.h".
    if (!path.empty() && path != "-" && path != "<stdin>")
      paths.push_back(path[0] == '/' ? path : "/" + path);
    path.clear();
  };
  for (size_t i = colon + 1; i < rule.size(); ++i) {
    const char c = rule[i];
    const char next = i + 1 < rule.size() ? rule[i + 1] : '\0';
    if (c == '\\' && next == '\n') {
      ++i;
      end_path();
    } else if (c == '\\' && (next == ' ' || next == '#' || next == '\\' || next == ':')) {
      path += next;
      ++i;
    } else if (c == '$' && next == '$') {
      path += '$';
      ++i;
    } else if (c == ' ' || c == '\n' || c == '\t') {
      end_path();
    } else {
      path += c;
    }
  }
  end_path();
  std::set<std::string> seen;
  std::erase_if(paths, [&](const std::string& one) { return !seen.insert(one).second; });
  return paths;
}

bool IsSystemFile(const std::string& path) {
  return path.starts_with("/usr/include/") || path.starts_with("/usr/lib/") ||
         path.starts_with("/usr/local/include/") || path.starts_with("/lib/") ||
         path.starts_with("/lib64/");
}

bool ChangedSince(const timespec& start, const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return true;
  // A rename keeps the one time and sets the other.
  for (const timespec& time : {info.st_mtim, info.st_ctim})
    if (time.tv_sec > start.tv_sec ||
        (time.tv_sec == start.tv_sec && time.tv_nsec >= start.tv_nsec))
      return true;
  return false;
}

std::string DescribeHeaders(const std::vector<std::string>& headers) {
  std::string text;
  for (const std::string& header : headers) {
    if (IsSystemFile(header)) {
      struct stat info{};
      if (stat(header.c_str(), &info) != 0) return "";
      text += StrCat(info.st_size, " ", info.st_mtim.tv_sec, ".", info.st_mtim.tv_nsec, " ", header,
                     "\n");
    } else {
      Expected<std::string> hash = Sha256OfFile(header);
      if (!hash.ok()) return "";
      text += StrCat(*hash, " ", header, "\n");
    }
  }
  return text;
}

Searched SearchedFor(std::vector<std::string> files, std::vector<std::string> folders,
                     std::vector<std::string> names) {
  for (const std::string& file : files)
    if (!IsSystemFile(file)) folders.push_back(DirName(file));
  const std::set<std::string> once(folders.begin(), folders.end());
  return {std::move(files), {once.begin(), once.end()}, std::move(names)};
}

Rivals FindRivals(const Searched& searched) {
  // First path component that exists in a folder -> the folder. Most names have no part there, and
  // one listing of a folder tells so without asking for each of them.
  std::unordered_map<std::string, std::vector<std::string_view>> heads;
  for (const std::string& folder : searched.folders)
    for (std::string& name : ListFolder(folder)) heads[std::move(name)].push_back(folder);
  heads["."] =
      heads[".."] = {searched.folders.begin(), searched.folders.end()};  // which are not listed

  std::set<std::string> found;
  const auto look_at = [&](std::string path, const std::string& known) {
    if (path != known && FileExists(path) && !IsDirectory(path)) found.insert(std::move(path));
  };
  const auto look_for = [&](const std::string& name, const std::string& known) {
    const auto head = heads.find(name.substr(0, name.find('/')));
    if (head == heads.end()) return;
    for (const std::string_view folder : head->second) look_at(JoinPath(folder, name), known);
  };
  for (const std::string& file : searched.files)
    for (size_t slash = file.rfind('/'); slash != file.npos && slash > 0;
         slash = file.rfind('/', slash - 1))
      look_for(file.substr(slash + 1), file);
  for (const std::string& name : searched.names) {
    if (name.starts_with('/'))
      look_at(name, "");
    else
      look_for(name, "");
  }
  return {found.begin(), found.end()};
}

std::optional<std::string> Manifest::CurrentState(const std::string& path) {
  Expected<std::string> text = ReadFile(path);
  if (!text.ok()) return std::nullopt;
  const std::vector<std::string> lines = Split(*text, '\n');
  if (lines.size() < 3 || lines[0] != kMagic || lines[lines.size() - 2] != "end")
    return std::nullopt;
  Searched searched;
  for (const std::string& line : lines) {
    if (line.starts_with("file ")) searched.files.push_back(line.substr(5));
    if (line.starts_with("search ")) searched.folders.push_back(line.substr(7));
    if (line.starts_with("name ")) searched.names.push_back(line.substr(5));
  }
  std::string state = State(searched, FindRivals(searched));
  if (state.empty()) return std::nullopt;
  return state;
}

Expected<std::string> Manifest::Write(const std::string& path, const Searched& searched,
                                      const Rivals& rivals) {
  std::string text = StrCat(kMagic, "\n");
  for (const std::string& file : searched.files) text += StrCat("file ", file, "\n");
  for (const std::string& folder : searched.folders) text += StrCat("search ", folder, "\n");
  for (const std::string& name : searched.names) text += StrCat("name ", name, "\n");
  text += "end\n";
  if (Status written = WriteFileAtomic(path, text, 0600); !written.ok())
    return WithId(written.TakeError(), "CA003");
  return State(searched, rivals);
}

}  // namespace opwright::build

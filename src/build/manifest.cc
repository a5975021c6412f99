// SPDX-License-Identifier: Apache-2.0
#include "build/manifest.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"

namespace opwright::build {
namespace {

constexpr std::string_view kMagic = "opwright manifest 1";

// Installed by a package manager, libraries too, which sets time and size: hashing hundreds of them
// would cost more than all the rest of a cache hit.
bool IsSystemHeader(const std::string& path) {
  return path.starts_with("/usr/include/") || path.starts_with("/usr/lib/") ||
         path.starts_with("/usr/local/include/") || path.starts_with("/lib/") ||
         path.starts_with("/lib64/");
}

std::string State(const std::vector<std::string>& headers,
                  const std::vector<std::string>& folders) {
  const std::string described = DescribeHeaders(headers);
  if (described.empty() && !headers.empty()) return "";
  return StrCat("state\n", described, "rivals\n", Join(Rivals(headers, folders), "\n"), "\n");
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

bool ChangedSince(const timespec& start, const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return true;
  return info.st_mtim.tv_sec > start.tv_sec ||
         (info.st_mtim.tv_sec == start.tv_sec && info.st_mtim.tv_nsec >= start.tv_nsec);
}

std::string DescribeHeaders(const std::vector<std::string>& headers) {
  std::string text;
  for (const std::string& header : headers) {
    if (IsSystemHeader(header)) {
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

std::vector<std::string> Rivals(const std::vector<std::string>& headers,
                                const std::vector<std::string>& folders) {
  // First path component that exists in a folder -> the folder. Most headers have no part there,
  // and one listing of a folder tells so without asking for each of them.
  std::map<std::string, std::vector<std::string>> heads;
  for (const std::string& folder : folders)
    for (const std::string& name : ListFolder(folder)) heads[name].push_back(folder);
  std::set<std::string> found;
  for (const std::string& header : headers) {
    for (size_t slash = header.rfind('/'); slash != header.npos && slash > 0;
         slash = header.rfind('/', slash - 1)) {
      const std::string tail = header.substr(slash + 1);
      const auto head = heads.find(tail.substr(0, tail.find('/')));
      if (head == heads.end()) continue;
      for (const std::string& folder : head->second) {
        std::string rival = JoinPath(folder, tail);
        if (rival != header && FileExists(rival) && !IsDirectory(rival))
          found.insert(std::move(rival));
      }
    }
  }
  return {found.begin(), found.end()};
}

std::optional<std::string> Manifest::CurrentState(const std::string& path) {
  Expected<std::string> text = ReadFile(path);
  if (!text.ok()) return std::nullopt;
  std::vector<std::string> headers, folders;
  const std::vector<std::string> lines = Split(*text, '\n');
  if (lines.size() < 3 || lines[0] != kMagic || lines[lines.size() - 2] != "end")
    return std::nullopt;
  for (const std::string& line : lines) {
    if (line.starts_with("header ")) headers.push_back(line.substr(7));
    if (line.starts_with("search ")) folders.push_back(line.substr(7));
  }
  std::string state = State(headers, folders);
  if (state.empty()) return std::nullopt;
  return state;
}

Expected<std::string> Manifest::Write(const std::string& path,
                                      const std::vector<std::string>& headers,
                                      const std::vector<std::string>& search_folders) {
  std::set<std::string> folders(search_folders.begin(), search_folders.end());
  for (const std::string& header : headers)
    if (!IsSystemHeader(header)) folders.insert(DirName(header));
  std::string text = StrCat(kMagic, "\n");
  for (const std::string& header : headers) text += StrCat("header ", header, "\n");
  for (const std::string& folder : folders) text += StrCat("search ", folder, "\n");
  text += "end\n";
  if (Status written = WriteFileAtomic(path, text, 0600); !written.ok())
    return WithId(written.TakeError(), "CA003");
  return State(headers, {folders.begin(), folders.end()});
}

}  // namespace opwright::build

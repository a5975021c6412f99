// SPDX-License-Identifier: Apache-2.0
//
// Opwright itself: its files, its cache, the processor it runs on.
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cstdio>

#include "base/cpu_features.h"
#include "base/file.h"
#include "base/layout.h"
#include "base/text.h"
#include "doctor/checks.h"
#include "opwright/c_api.h"

namespace opwright::doctor {
namespace {

constexpr const char* kInstallAgain = "install Opwright again, all of it: pip install .";

// What a part says of its version, behind this mark (entries/version.cc,
// OpwrightConfigVersion.cmake).
struct Part {
  const char* folder;  // in the package
  const char* name;
  const char* mark;  // nullptr: any version
  bool needed;  // else only a Python package has it
};

constexpr Part kParts[] = {
    {"_lib", "libopwright_entries.a", "opwright part of version ", true},
    {"_lib", "libopwright_mindspore.so", "opwright part of version ", false},
    {"include", "opwright/c_api.h", nullptr, true},
    {"include", "opwright/kernel.h", nullptr, true},
    {"include", "acl/acl.h", nullptr, true},
    {"cmake", "OpwrightConfig.cmake", nullptr, true},
    {"cmake", "OpwrightConfigVersion.cmake", "set(PACKAGE_VERSION \"", true},
};

std::string FolderOf(const Part& part) {
  const std::string_view folder = part.folder;
  return folder == "_lib"      ? Layout().lib_dir
         : folder == "include" ? Layout().include_dir
                               : Layout().cmake_dir;
}

// The word behind the mark, "" when it is not there.
std::string VersionIn(const std::string& bytes, std::string_view mark) {
  const size_t at = bytes.find(mark);
  if (at == bytes.npos) return "";
  const size_t begin = at + mark.size();
  const size_t end = bytes.find_first_not_of("0123456789.", begin);
  return bytes.substr(begin, end == bytes.npos ? end : end - begin);
}

// "1.0" of the header's text.
std::string HeaderAbi(const std::string& header) {
  return StrCat(VersionIn(header, "#define OPWRIGHT_ABI_MAJOR "), ".",
                VersionIn(header, "#define OPWRIGHT_ABI_MINOR "));
}

std::string Megabytes(uint64_t bytes) {
  char text[32];
  if (bytes >= 10'000'000'000)
    std::snprintf(text, sizeof text, "%.0f GB", static_cast<double>(bytes) / 1e9);
  else
    std::snprintf(text, sizeof text, "%.0f MB", static_cast<double>(bytes) / 1e6);
  return text;
}

// The message of an error as found and cure: its last part says what to do.
void AddError(Findings* findings, Level level, const std::string& check, std::string message,
              const std::string& cure) {
  const size_t at = message.rfind("; ");
  if (at == message.npos) return Add(findings, level, check, std::move(message), cure);
  Add(findings, level, check, message.substr(0, at), message.substr(at + 2));
}

}  // namespace

void CheckPackage(const Machine& machine, Findings* findings) {
  (void)machine;
  const std::string version = opwright_version();
  std::vector<std::string> missing;
  std::vector<std::string> others;
  const bool python_package = FileExists(JoinPath(DirName(Layout().lib_dir), "__init__.py"));
  for (const Part& part : kParts) {
    const std::string path = JoinPath(FolderOf(part), part.name);
    Expected<std::string> bytes = ReadFile(path);
    if (!bytes.ok()) {
      if (part.needed || python_package) missing.push_back(path);
      continue;
    }
    std::string says = part.mark != nullptr ? VersionIn(*bytes, part.mark) : version;
    if (std::string_view(part.name) == "opwright/c_api.h") {
      const std::string abi = HeaderAbi(*bytes);
      if (abi != StrCat(OPWRIGHT_ABI_MAJOR, ".", OPWRIGHT_ABI_MINOR)) says = StrCat("ABI ", abi);
    }
    if (says != version)
      others.push_back(StrCat(part.name, " (", says.empty() ? "of no known version" : says, ")"));
  }
  if (!missing.empty())
    Add(findings, Level::kError, "package", StrCat("not complete: no ", JoinAnd(missing)),
        kInstallAgain);
  if (!others.empty())
    Add(findings, Level::kError, "package",
        StrCat("of several versions: libopwright.so is ", version, ", not ", JoinAnd(others)),
        kInstallAgain);
  if (missing.empty() && others.empty())
    Add(findings, Level::kOk, "package",
        StrCat(version, ", ABI ", OPWRIGHT_ABI_MAJOR, ".", OPWRIGHT_ABI_MINOR, ", complete in ",
               DirName(Layout().lib_dir)));
}

void CheckProgram(const Machine& machine, Findings* findings) {
  (void)machine;
  const std::string folder = DirName(Resolved("/proc/self/exe"));
  if (folder.empty() || folder == Layout().lib_dir) return;
  Add(findings, Level::kError, "program",
      StrCat("the command line of ", folder, " runs with the libopwright.so of ", Layout().lib_dir),
      "take that folder out of LD_LIBRARY_PATH or LD_PRELOAD");
}

void CheckCache(const Machine& machine, Findings* findings) {
  if (!machine.cache.ok())
    return AddError(findings, Level::kError, "cache", machine.cache.error().message,
                    "set OPWRIGHT_CACHE to a folder of your own");
  const std::string& root = machine.cache->root();
  struct statvfs space{};
  struct stat info{};
  if (statvfs(root.c_str(), &space) != 0 || stat(root.c_str(), &info) != 0)
    return Add(findings, Level::kError, "cache", StrCat(root, " went away"),
               "set OPWRIGHT_CACHE to a folder of your own");
  const uint64_t free = uint64_t{space.f_bavail} * space.f_frsize;
  char mode[8];
  std::snprintf(mode, sizeof mode, "%04o", static_cast<unsigned>(info.st_mode & 07777));
  const std::string facts = StrCat(root, ", mode ", mode, ", ", Megabytes(free), " free");
  if (IsNoExec(root))
    return Add(findings, Level::kError, "cache",
               StrCat(facts, ", on a file system from which nothing is run (noexec)"),
               "set OPWRIGHT_CACHE to a folder on another file system");
  constexpr uint64_t kFew = 100'000'000;  // some thousand small libraries
  if (free < kFew)
    return Add(findings, Level::kWarning, "cache", StrCat(facts, ", which is little"),
               "opwright cache clear, or set OPWRIGHT_CACHE to a folder on another file system");
  if (!machine.cache->warnings().empty())
    return Add(findings, Level::kWarning, "cache",
               StrCat(machine.cache->warnings()[0].message, "; ", facts, ", is used instead"),
               "set OPWRIGHT_CACHE to a folder that can be written");
  if ((info.st_mode & 0077) != 0)
    return Add(findings, Level::kNote, "cache", StrCat(facts, ": others can read it"),
               StrCat("chmod 700 ", root));
  Add(findings, Level::kOk, "cache", facts);
}

void CheckProcessor(const Machine& machine, Findings* findings) {
  (void)machine;
  const char* const level = ProcessorLevel();
  Add(findings, Level::kOk, "processor",
      StrCat(level, ": libraries up to --march ", level, " load here"));
}

}  // namespace opwright::doctor

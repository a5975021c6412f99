// SPDX-License-Identifier: Apache-2.0
#include "doctor/machine.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/statvfs.h>

#include <array>
#include <cstdio>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "build/process.h"
#include "doctor/doctor.h"

namespace opwright::doctor {
namespace {

// In the cache, because there built libraries must be loadable; else in the temporary folder.
std::optional<TempFolder> MakeScratch(const Expected<build::Cache>& cache) {
  if (cache.ok())
    if (Expected<TempFolder> made = TempFolder::Make(cache->Temporary()); made.ok())
      return std::move(*made);
  Expected<TempFolder> made = TempFolder::Make();
  if (!made.ok()) return std::nullopt;
  return std::move(*made);
}

std::string CxxLibrary(const build::Compiler& cxx) {
  std::vector<std::string> command = cxx.command;
  command.emplace_back("-print-file-name=libstdc++.so.6");
  Expected<build::Finished> run = build::RunProcess(command);
  if (!run.ok() || !run->ok()) return "";
  const std::string path(Trim(run->output));
  // A compiler that does not find it says the bare name.
  return path.find('/') == path.npos ? "" : Resolved(path);
}

// {33} of "/usr/lib/libstdc++.so.6.0.33", with the part before it; zeros when it has none.
std::array<int, 2> CxxLibraryVersion(const std::string& path) {
  std::array<int, 2> version{};
  const std::string name = BaseName(path);
  if (std::sscanf(name.c_str(), "libstdc++.so.6.%d.%d", version.data(), version.data() + 1) != 2)
    return {};
  return version;
}

}  // namespace

std::string Resolved(const std::string& path) {
  char resolved[PATH_MAX];
  return realpath(path.c_str(), resolved) != nullptr ? resolved : "";
}

bool IsNoExec(const std::string& path) {
  struct statvfs space{};
  return statvfs(path.c_str(), &space) == 0 && (space.f_flag & ST_NOEXEC) != 0;
}

bool IsOlderCxxLibrary(const std::string& path, const std::string& than) {
  const std::array<int, 2> none{};
  const std::array<int, 2> one = CxxLibraryVersion(path);
  const std::array<int, 2> other = CxxLibraryVersion(than);
  return one != none && other != none && one < other;
}

Machine LookAtMachine(const Options& options) {
  Machine machine;
  machine.cache = build::Cache::Open();
  machine.scratch = MakeScratch(machine.cache);
  if (machine.scratch.has_value()) {
    const std::string folder = JoinPath(machine.scratch->path(), "cache");
    if (MakeFolders(folder, 0700).ok())
      if (Expected<build::Cache> cache = build::Cache::In(folder); cache.ok())
        machine.trial_cache = std::make_unique<build::Cache>(std::move(*cache));
  }
  if (machine.trial_cache != nullptr) {
    machine.cxx = build::FindCxxCompiler(*machine.trial_cache);
    machine.c = build::FindCCompiler(*machine.trial_cache);
  }
  if (machine.cxx.ok()) machine.cxx_library = CxxLibrary(*machine.cxx);
  machine.python = AskPython(options.python, options.seconds);
  return machine;
}

}  // namespace opwright::doctor

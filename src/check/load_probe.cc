// SPDX-License-Identifier: Apache-2.0
#include "check/load_probe.h"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>

#include "base/sha256.h"
#include "base/text.h"
#include "check/child.h"
#include "check/ending.h"
#include "registry/loader.h"

namespace opwright::check {
namespace {

bool IsLoaded(const std::string& path) {
  const Expected<std::string> resolved = ResolveLibraryPath(path);
  if (!resolved.ok()) return false;
  const Expected<std::string> identity = Sha256OfFile(*resolved);
  if (!identity.ok()) return false;
  const auto loaded = LoadedLibraries();
  return std::any_of(loaded.begin(), loaded.end(),
                     [&](const auto& library) { return library->identity() == *identity; });
}

// What exit() runs of this library, and nothing of the others in the process: a child of one that
// has threads must not end those.
void RunEnd(const Library& library) {
  Dl_info info;
  void* found = nullptr;
  if (dladdr1(&library.raw(), &info, &found, RTLD_DL_LINKMAP) == 0) return;
  const auto* map = static_cast<const link_map*>(found);
  using End = void (*)();
  const End* ends = nullptr;
  size_t count = 0;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_FINI_ARRAY)
      ends = reinterpret_cast<const End*>(map->l_addr + entry->d_un.d_ptr);
    if (entry->d_tag == DT_FINI_ARRAYSZ) count = entry->d_un.d_val / sizeof(End);
  }
  for (; ends != nullptr && count > 0; --count) ends[count - 1]();
}

}  // namespace

std::optional<Finding> ProbeLoad(const std::string& path, double timeout_seconds) {
  if (IsLoaded(path)) return std::nullopt;
  void* const shared = MapShared(sizeof(ChildState));
  auto* state = static_cast<ChildState*>(shared);
  const Outcome outcome = RunInChild(state, timeout_seconds, [&] {
    state->stage = "its load: a static constructor";
    const Expected<LibraryHandle> library = LoadLibrary(path);
    state->stage = "the end of the process: a static destructor";
    if (library.ok()) RunEnd(**library);
  });
  Finding finding;
  finding.id = "CK021";
  const std::string during = StrCat(" during ", state->stage.chars);
  switch (outcome.ending) {
    case Ending::kCrashed:
      finding.message = StrCat("the library crashed with ", SignalText(outcome.code), during,
                               " failed, or an exception left it");
      break;
    case Ending::kExited:
      finding.message =
          StrCat("the library ended the process with status ", outcome.code, during, " did it");
      break;
    case Ending::kTimedOut:
      finding.message = StrCat("the library did not come back within ", timeout_seconds, " s",
                               during, " did not return");
      break;
    case Ending::kNoChild:
      finding = Warning("CK018", StrCat(NoChildText(outcome.code), " to load the library in"));
      break;
    default:
      if (state->threw == 0) finding.id.clear();
      finding.message = StrCat("an exception left the library", during, " threw it");
  }
  UnmapShared(shared, sizeof(ChildState));
  if (finding.id.empty()) return std::nullopt;
  return finding;
}

}  // namespace opwright::check

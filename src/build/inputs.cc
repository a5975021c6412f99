// SPDX-License-Identifier: Apache-2.0
#include "build/inputs.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "base/file.h"
#include "base/text.h"
#include "metadef/metadef.h"

namespace opwright::build {
namespace {

std::string Extension(const std::string& path) {
  return std::filesystem::path(path).extension().string();
}

// .cl and .cu count as sources: reading them gives the answer that they are not compiled here.
bool IsSource(const std::string& path) {
  const std::string extension = Extension(path);
  for (const char* known : {".cpp", ".cc", ".cxx", ".cl", ".cu"})
    if (extension == known) return true;
  return false;
}

Error NoMetadef(const std::string& place) {
  std::vector<std::string> others;
  for (const std::string& name : ListFolder(place))
    if (Extension(name) == ".json") others.push_back(name);
  return MakeError(
      "BD006",
      StrCat("no metadef: there is no ", metadef::kFileName, " in ", place,
             others.empty() ? "" : StrCat(", only ", JoinAnd(others)), "; ",
             others.size() == 1
                 ? StrCat("rename it to ", metadef::kFileName, ", or give it with the sources")
                 : "write one (docs/metadef.md shows the form), or give a .json file"));
}

Expected<Inputs> FromFolder(const std::string& folder, bool allow_no_metadef) {
  if (access(folder.c_str(), R_OK | X_OK) != 0)
    return MakeError("BD001", DescribeMissing(folder, "read the folder", errno));
  Inputs inputs;
  const std::vector<std::string> names = ListFolder(folder);
  for (const std::string& name : names) {
    const std::string path = JoinPath(folder, name);
    if (IsSource(path) && !IsDirectory(path)) inputs.sources.push_back(path);
    if (name == metadef::kFileName) inputs.metadefs.push_back(path);
  }
  // A device source beside a C++ one is the user's other version of the same operator.
  const auto device = [](const std::string& path) {
    return Extension(path) == ".cl" || Extension(path) == ".cu";
  };
  if (!std::all_of(inputs.sources.begin(), inputs.sources.end(), device))
    std::erase_if(inputs.sources, device);
  if (inputs.sources.empty())
    return MakeError("BD002",
                     StrCat("no source: the folder ", folder, " holds no .cpp, .cc or .cxx file",
                            names.empty() ? " and is empty" : StrCat(", only ", JoinAnd(names)),
                            "; put the kernel there, or name the sources"));
  if (inputs.metadefs.empty() && !allow_no_metadef) return NoMetadef(folder);
  return inputs;
}

}  // namespace

Expected<Inputs> CollectInputs(const std::vector<std::string>& given, bool allow_no_metadef) {
  if (given.empty())
    return MakeError("BD002",
                     "nothing to build: give an operator folder, or sources and a metadef");
  for (const std::string& path : given) {
    if (!FileExists(path)) return MakeError("BD001", DescribeMissing(path, "read", ENOENT));
    if (IsDirectory(path) && given.size() > 1)
      return MakeError("BD003", StrCat("the folder ", path,
                                       " is given with other files: give one folder alone, "
                                       "or the files themselves"));
  }
  if (IsDirectory(given[0])) return FromFolder(AbsolutePath(given[0]), allow_no_metadef);

  Inputs inputs;
  for (const std::string& path : given) {
    const std::string extension = Extension(path);
    if (access(path.c_str(), R_OK) != 0)
      return MakeError("BD001", DescribeMissing(path, "read", errno));
    if (IsSource(path)) {
      inputs.sources.push_back(AbsolutePath(path));
    } else if (extension == ".o" || extension == ".a") {
      inputs.objects.push_back(AbsolutePath(path));
    } else if (extension == ".json") {
      inputs.metadefs.push_back(AbsolutePath(path));
    } else {
      return MakeError("BD003",
                       StrCat(path,
                              " is no kind of file that is built: give .cpp, .cc or .cxx sources, "
                              ".o or .a objects, .json metadefs"));
    }
  }
  if (inputs.sources.empty() && inputs.objects.empty())
    return MakeError(
        "BD002", StrCat("no source among ", JoinAnd(given), ": a metadef alone makes no library"));
  if (inputs.metadefs.empty()) {
    const std::string place =
        DirName(inputs.sources.empty() ? inputs.objects[0] : inputs.sources[0]);
    const std::string beside = JoinPath(place, metadef::kFileName);
    if (FileExists(beside) && !allow_no_metadef) {
      inputs.metadefs.push_back(beside);
    } else if (!allow_no_metadef) {
      return NoMetadef(place);
    }
  }
  return inputs;
}

}  // namespace opwright::build

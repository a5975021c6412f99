// SPDX-License-Identifier: Apache-2.0
#include "build/output.h"

#include <elf.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/file.h"
#include "base/text.h"

namespace opwright::build {
namespace {

Error Refused(const std::string& output, std::string_view why) {
  return MakeError("BD021", StrCat("cannot write ", output, ": it is ", why,
                                   "; name the library's file, NAME.so"));
}

// By its name or by what is in it: an old library, or the place of one.
bool MayBeReplaced(const std::string& path) {
  const std::string name = BaseName(path);
  if (name.ends_with(".so") || name.find(".so.") != name.npos) return true;
  Elf64_Ehdr header = {};
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  if (file.gcount() == 0) return true;
  return memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_type == ET_DYN;
}

}  // namespace

Status CheckOutput(const std::string& output, const Plan& plan) {
  if (IsDirectory(output)) return Refused(output, "a folder");
  if (!FileExists(output) && !IsDirectory(DirName(output)))
    return MakeError("BD021",
                     StrCat("cannot write ", output, ": its folder is not there; make it"));
  if (!FileExists(output)) return {};
  if (!IsRegularFile(output)) return Refused(output, "a device, a pipe or a socket");
  const Inputs& inputs = plan.inputs;
  for (const auto* files :
       {&inputs.sources, &inputs.objects, &inputs.metadefs, &plan.flags.libraries})
    for (const std::string& file : *files) {
      std::error_code failed;
      if (std::filesystem::equivalent(file, output, failed))
        return Refused(output, "an input of this build");
    }
  if (!MayBeReplaced(output)) return Refused(output, "there and no library");
  return {};
}

Status CopyOut(const std::string& from, const std::string& to) {
  Expected<std::string> bytes = ReadFile(from);
  if (!bytes.ok()) return WithId(bytes.TakeError(), "CA003");
  if (FileExists(to))
    if (Expected<std::string> old = ReadFile(to); old.ok() && *old == *bytes) return {};
  if (Status written = WriteFileAtomic(to, *bytes, 0755); !written.ok())
    return WithId(written.TakeError(), "BD021");
  return {};
}

}  // namespace opwright::build

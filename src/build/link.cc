// SPDX-License-Identifier: Apache-2.0
#include "build/link.h"

#include "base/file.h"
#include "base/layout.h"
#include "base/text.h"
#include "build/compile.h"
#include "build/link_output.h"
#include "build/process.h"

namespace opwright::build {

Expected<std::string> EntryArchive() {
  std::string path = JoinPath(Layout().lib_dir, "libopwright_entries.a");
  if (!FileExists(path) || !FileExists(JoinPath(Layout().include_dir, "opwright/c_api.h")))
    return MakeError("BD017", StrCat("this Opwright is not complete: ", path, " and ",
                                     JoinPath(Layout().include_dir, "opwright/c_api.h"),
                                     " belong to libopwright.so; install it again"));
  return path;
}

Expected<std::string> LinkLibrary(const Cache& cache, const LinkJob& job, const Plan& plan,
                                  const Compiler& compiler, const std::string& scratch,
                                  const std::string& output) {
  Expected<std::string> archive = EntryArchive();
  if (!archive.ok()) return archive.TakeError();
  const std::string script = JoinPath(scratch, "exports.map");
  std::string text = "{\n  global:\n";
  for (const std::string& name : job.exports) text += StrCat("    ", name, ";\n");
  if (Status written = WriteFileAtomic(script, text + "  local:\n    *;\n};\n", 0600);
      !written.ok())
    return WithId(written.TakeError(), "CA003");

  std::vector<std::string> command = compiler.command;
  const auto add = [&](const std::vector<std::string>& words) {
    command.insert(command.end(), words.begin(), words.end());
  };
  add(BaseLinkFlags());
  command.push_back("-Wl,--version-script=" + script);
  add(job.objects);
  add(plan.inputs.objects);
  command.push_back(*archive);
  add(plan.flags.link);
  add({"-o", output});

  Expected<Finished> run = RunProcess(command);
  if (!run.ok()) return run.TakeError();
  std::string shown = CommandText(command);
  if (run->ok()) return shown;

  LinkInputs inputs;
  inputs.sources = job.sources;
  inputs.objects = job.objects;
  for (const std::string& object : plan.inputs.objects) inputs.objects.push_back(object);
  for (const std::string& library : plan.flags.libraries) inputs.objects.push_back(library);
  for (const Unit& unit : plan.units) inputs.scans[unit.source] = unit.scan;
  Error error = DescribeLinkFailure(run->output, inputs);
  if (const std::string log = WriteLog(cache, job.name, shown, run->output); !log.empty())
    error.message += StrCat("; the linker's whole output is in ", log);
  return error;
}

}  // namespace opwright::build

// SPDX-License-Identifier: Apache-2.0
#include "build/link.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/file.h"
#include "base/layout.h"
#include "base/text.h"
#include "build/compile.h"
#include "build/link_output.h"
#include "build/manifest.h"
#include "build/process.h"
#include "build/symbols.h"
#include "opwright/c_api.h"

namespace opwright::build {
namespace {

// An archive that holds the names of its members only.
bool IsThin(const std::string& path) {
  constexpr char kMagic[] = "!<thin>\n";
  char start[sizeof kMagic - 1] = {};
  FILE* const file = fopen(path.c_str(), "re");
  if (file == nullptr) return false;
  const size_t read = fread(start, 1, sizeof start, file);
  fclose(file);
  return read == sizeof start && memcmp(start, kMagic, sizeof start) == 0;
}

// Reads what the linker wrote down.
void TakeFiles(const std::string& rule, const std::vector<std::string>& known,
               const std::string& scratch, const timespec& start, Linked* linked) {
  Expected<std::string> text = ReadFile(rule);
  if (!text.ok()) return;
  // After the first rule, each file is repeated as a target.
  linked->lists_all = true;
  for (std::string& file : ParseDependencies(text->substr(0, text->find("\n\n")))) {
    if (file.starts_with(scratch) || !FileExists(file)) continue;  // of the link itself
    linked->lists_all = linked->lists_all && !IsThin(file);
    if (std::find(known.begin(), known.end(), file) != known.end()) continue;
    linked->unsteady = linked->unsteady || ChangedSince(start, file);
    linked->files.push_back(std::move(file));
  }
}

bool IsIn(const std::string& name, const std::vector<std::string>& names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Whether it is one of the two functions of an operator.
bool IsOperators(const std::string& name, const std::vector<std::string>& exports) {
  return IsIn(name, exports) &&
         (name.ends_with("InferShape") || IsIn(name + "InferShape", exports));
}

// A C function of the user's by the name of an operator: the library exports one by that name,
// which would be called in its place, or twice defined.
Status CheckNames(const LinkJob& job, const Plan& plan) {
  std::vector<std::string> objects = plan.inputs.objects;
  for (const std::string& object : job.objects)
    if (job.sources.count(object) > 0) objects.push_back(object);  // not the stub
  for (const std::string& object : objects) {
    std::vector<std::string> names = UndefinedSymbols(object);
    for (std::string& name : DefinedSymbols(object)) names.push_back(std::move(name));
    for (const std::string& name : names) {
      if (!IsOperators(name, job.exports)) continue;
      const auto source = job.sources.find(object);
      return MakeError(
          "BD016",
          StrCat(source != job.sources.end() ? source->second : object,
                 " defines or calls a C function ", name,
                 ", the name by which the library shows the operator to MindSpore; make it "
                 "static, put it into a namespace, or name the operator otherwise"));
    }
  }
  return {};
}

}  // namespace

Expected<std::string> EntryArchive() {
  std::string path = JoinPath(Layout().lib_dir, "libopwright_entries.a");
  if (!FileExists(path) || !FileExists(JoinPath(Layout().include_dir, "opwright/c_api.h")))
    return MakeError("BD017", StrCat("this Opwright is not complete: ", path, " and ",
                                     JoinPath(Layout().include_dir, "opwright/c_api.h"),
                                     " belong to libopwright.so; install it again"));
  return path;
}

Expected<Linked> LinkLibrary(const Cache& cache, const LinkJob& job, const Plan& plan,
                             const Compiler& compiler, const std::string& scratch,
                             const std::string& output) {
  Expected<std::string> archive = EntryArchive();
  if (!archive.ok()) return archive.TakeError();
  OPWRIGHT_RETURN_IF_ERROR(CheckNames(job, plan));
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
  // After -Wl, a comma in a path would end it.
  add({"-Xlinker", "--version-script=" + script});
  add(job.objects);
  add(plan.inputs.objects);
  command.push_back(*archive);
  add(plan.flags.link);
  if (BaseName(compiler.command[0]).find("++") == std::string::npos)
    add({"-lstdc++", "-lm"});  // CXX is the C driver, which links neither
  add({"-o", output});

  Linked linked;
  const std::string rule = JoinPath(scratch, "link.d");
  std::vector<std::string> listing = command;
  listing.insert(listing.end(), {"-Xlinker", "--dependency-file=" + rule});
  timespec start{};
  clock_gettime(CLOCK_REALTIME_COARSE, &start);
  Expected<Finished> run = RunProcess(listing);
  // A linker older than the option.
  if (run.ok() && !run->ok() && run->output.find("dependency-file") != std::string::npos)
    run = RunProcess(command);
  else
    command = std::move(listing);
  if (!run.ok()) return run.TakeError();
  linked.command = CommandText(command);
  if (run->ok()) {
    std::vector<std::string> known = job.objects;
    for (const auto* more : {&plan.inputs.objects, &plan.flags.libraries})
      known.insert(known.end(), more->begin(), more->end());
    known.push_back(*archive);
    TakeFiles(rule, known, scratch, start, &linked);
    return linked;
  }

  LinkInputs inputs;
  inputs.sources = job.sources;
  inputs.objects = job.objects;
  for (const std::string& object : plan.inputs.objects) inputs.objects.push_back(object);
  for (const std::string& library : plan.flags.libraries) inputs.objects.push_back(library);
  for (const Unit& unit : plan.units) inputs.scans[unit.source] = unit.scan;
  Error error = DescribeLinkFailure(run->output, inputs);
  if (const std::string log = WriteLog(cache, job.name, linked.command, run->output); !log.empty())
    error.message += StrCat("; the linker's whole output is in ", log);
  return error;
}

}  // namespace opwright::build

// SPDX-License-Identifier: Apache-2.0
#include "build/compile.h"

#include <time.h>

#include <algorithm>

#include "base/file.h"
#include "base/layout.h"
#include "base/sha256.h"
#include "base/text.h"
#include "build/compiler_output.h"
#include "build/header_names.h"
#include "build/manifest.h"
#include "build/process.h"
#include "build/wrapper.h"
#include "opwright/c_api.h"

namespace opwright::build {
namespace {

std::string BaseKey(const CompileJob& job, const Compiler& compiler) {
  Sha256 hash;
  hash.Field(BuildIdentity()).Field(compiler.identity).Field(CompilerEnvironment());
  for (const std::string& word : job.command) hash.Field(word);
  return hash.Field(job.input).Field(job.source).Field(job.content).Hex();
}

std::string ManifestPath(const Cache& cache, const CompileJob& job) {
  return JoinPath(cache.Manifests(), job.base_key.substr(0, 40) + ".txt");
}

std::string KeyOf(const CompileJob& job, const std::string& state) {
  return Sha256().Field(job.base_key).Field(state).Hex();
}

// The error of a failed compilation, the user's first line in its first sentence.
Error CompileError(const Cache& cache, const CompileJob& job, const std::string& command,
                   const Finished& run) {
  const std::string log = WriteLog(cache, BaseName(job.source), command, run.output);
  std::vector<Diagnostic> all = UserDiagnostics(run.output, Layout().include_dir);
  std::erase_if(all, [](const Diagnostic& d) { return d.severity != Severity::kError; });
  for (Diagnostic& d : all) {
    const size_t misfit =
        d.message.starts_with("static") ? d.message.find(kFunctionMisfit) : d.message.npos;
    d.id = misfit != d.message.npos ? "BD029" : "BD013";
    if (d.message.find("return-type]") != d.message.npos)
      d.hint =
          "a kernel ends with return opwright::SUCCESS; a function that returns nothing is void";
    if (misfit == d.message.npos) continue;
    d.column = 0;  // of the generated line, not of the marker's
    d.message.erase(0, misfit);  // gcc and clang announce an assertion each in its own way
    if (d.message.ends_with('"')) d.message.pop_back();
  }
  if (all.empty() && run.output.find("-march=") != run.output.npos)
    for (const std::string& word : job.command)
      if (word.starts_with("-march="))
        return MakeError("BD018", StrCat("the compiler does not know the architecture ",
                                         word.substr(7), ": write --march=x86-64-v3, ",
                                         "--march=native or another name of its -march"));
  std::string message = StrCat(job.source, " does not compile");
  constexpr size_t kShown = 10;
  if (all.size() > kShown) {
    message += StrCat(", ", all.size(), " errors, the first ", kShown, " are shown");
    all.resize(kShown);
  }
  const auto has = [&](std::string_view text) { return job.content.find(text) != text.npos; };
  const bool undeclared = std::any_of(all.begin(), all.end(), [](const Diagnostic& d) {
    return d.message.find("opwright") != d.message.npos &&
           d.message.find("declared") != d.message.npos;
  });
  if (!has("#include") && (has("OPWRIGHT_") || has("OpKernelBase")))
    message += "; it includes nothing: write #include <opwright/kernel.h>";
  else if (undeclared && !has("opwright/"))
    message += "; it lacks #include <opwright/kernel.h>";
  if (all.empty())
    message += StrCat(" (exit code ", run.exit_code,
                      "): ", Trim(std::string_view(run.output).substr(0, 2000)));
  if (!log.empty()) message += StrCat("; the compiler's whole output is in ", log);
  Error error = MakeError("BD013", std::move(message));
  error.diagnostics = std::move(all);
  return error;
}

}  // namespace

std::string BuildIdentity() {
  return StrCat("opwright " OPWRIGHT_VERSION " abi ", OPWRIGHT_ABI_MAJOR, ".", OPWRIGHT_ABI_MINOR,
                " cache 2");
}

CompileJob UnitJob(const Unit& unit, const Plan& plan, const Compiler& compiler,
                   const Assumed& assumed) {
  CompileJob job;
  job.command = compiler.command;
  const std::vector<std::string> base = BaseCompileFlags(compiler.clang);
  job.command.insert(job.command.end(), base.begin(), base.end());
  const bool exports =
      std::any_of(unit.scan.functions.begin(), unit.scan.functions.end(), [](const auto& function) {
        return function.extern_c && function.defined && !function.is_static;
      });
  // An extern "C" function is meant to be found from outside; the link's export list hides the
  // rest.
  if (exports)
    job.command.insert(job.command.end(), {"-fvisibility=default", "-fno-semantic-interposition"});
  if (!plan.flags.march.empty()) job.command.push_back("-march=" + plan.flags.march);
  // First, so that acl/acl.h is ours also where the user's flags name another one.
  job.command.push_back("-I" + Layout().include_dir);
  job.command.insert(job.command.end(), plan.flags.compile.begin(), plan.flags.compile.end());
  job.command.emplace_back(compiler.clang ? "-fno-color-diagnostics" : "-fdiagnostics-color=never");
  job.command.insert(job.command.end(), {"-x", "c++"});
  job.input = unit.wrapper;
  job.source = unit.source;
  job.content = unit.content;
  job.search_folders = plan.flags.include_dirs;
  job.search_folders.push_back(DirName(unit.source));
  job.search_folders.insert(job.search_folders.end(), assumed.include_dirs.begin(),
                            assumed.include_dirs.end());
  job.base_key = BaseKey(job, compiler);
  return job;
}

CompileJob StubJob(const std::string& text, const Compiler& compiler) {
  CompileJob job;
  job.command = compiler.command;
  job.command.insert(job.command.end(),
                     {"-std=c11", "-O1", "-fPIC", "-fvisibility=hidden", "-ffunction-sections",
                      "-fdata-sections", "-I" + Layout().include_dir, "-x", "c"});
  job.input = text;
  job.base_key = BaseKey(job, compiler);
  return job;
}

std::optional<std::string> KnownKey(const Cache& cache, const CompileJob& job) {
  const std::optional<std::string> state = Manifest::CurrentState(ManifestPath(cache, job));
  if (!state.has_value()) return std::nullopt;
  return KeyOf(job, *state);
}

std::string ObjectPath(const Cache& cache, const std::string& key) {
  return JoinPath(cache.Objects(), key.substr(0, 40) + ".o");
}

std::string WriteLog(const Cache& cache, const std::string& name, const std::string& command,
                     const std::string& output) {
  // By the output: the command names files of the moment.
  std::string path =
      JoinPath(cache.Logs(), StrCat(name, "-", Sha256Hex(output).substr(0, 12), ".log"));
  return WriteFileAtomic(path, StrCat(command, "\n\n", output), 0600).ok() ? path : "";
}

Expected<Compiled> CompileObject(const Cache& cache, const CompileJob& job, bool last_attempt) {
  Compiled compiled;
  if (std::optional<std::string> key = KnownKey(cache, job); key.has_value()) {
    compiled.key = *key;
    if (CheckPublished(ObjectPath(cache, *key)) == Presence::kWhole) return compiled;
  }
  Expected<TempFolder> temporary = TempFolder::Make(cache.Temporary());
  if (!temporary.ok()) return WithId(temporary.TakeError(), "CA003");
  const std::string object = JoinPath(temporary->path(), "out.o");
  const std::string rule = JoinPath(temporary->path(), "out.d");
  std::vector<std::string> command = job.command;
  command.insert(command.end(), {"-MD", "-MF", rule, "-MT", "out", "-c", "-o", object, "-"});

  timespec start{};
  clock_gettime(CLOCK_REALTIME_COARSE, &start);
  Expected<Finished> run = RunProcess(command, job.input);
  if (!run.ok()) return run.TakeError();
  compiled.ran = true;
  compiled.command = CommandText(command);
  if (!run->ok() && job.source.empty())
    return MakeError(
        "IN001", StrCat("the generated stub does not compile: ", Trim(run->output),
                        "; the text is in ", WriteLog(cache, "stub", compiled.command, job.input)));
  if (!run->ok()) return CompileError(cache, job, compiled.command, *run);
  if (!job.source.empty()) compiled.warnings = UserDiagnostics(run->output, Layout().include_dir);
  for (Diagnostic& warning : compiled.warnings) warning.id = "BD025";

  Expected<std::string> dependencies = ReadFile(rule);
  if (!dependencies.ok())
    return MakeError("BD012", StrCat(command[0],
                                     " ends with exit code 0 and has compiled nothing: "
                                     "it is no compiler; set CXX and CC to one, or unset them"));
  std::vector<std::string> headers = ParseDependencies(*dependencies);
  std::erase(headers, job.source);
  if (!job.source.empty()) {
    Expected<std::string> now = ReadFile(job.source);
    compiled.unsteady = !now.ok() || *now != job.content;
  }
  std::vector<std::string> absent = AbsentNames(job.content, job.command, headers);
  const Searched searched = SearchedFor(std::move(headers), job.search_folders, std::move(absent));
  const Rivals rivals = FindRivals(searched);
  if (!last_attempt) {
    // One that appeared too: it may have been looked for before.
    for (const auto* files : {&searched.files, &rivals})
      for (const std::string& file : *files)
        compiled.unsteady = compiled.unsteady || ChangedSince(start, file);
  }
  if (compiled.unsteady) return compiled;

  Expected<std::string> state = Manifest::Write(ManifestPath(cache, job), searched, rivals);
  if (!state.ok()) return state.TakeError();
  compiled.key = KeyOf(job, *state);
  OPWRIGHT_RETURN_IF_ERROR(Publish(object, ObjectPath(cache, compiled.key)));
  return compiled;
}

}  // namespace opwright::build

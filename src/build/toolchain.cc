// SPDX-License-Identifier: Apache-2.0
#include "build/toolchain.h"

#include <unistd.h>

#include <initializer_list>

#include "base/environment.h"
#include "base/file.h"
#include "base/sha256.h"
#include "base/text.h"
#include "build/process.h"

namespace opwright::build {
namespace {

bool Runnable(const std::string& path) {
  return !IsDirectory(path) && access(path.c_str(), X_OK) == 0;
}

Status ReadVersion(Compiler* compiler, const Cache& cache) {
  const std::string kept = StrCat(Sha256Hex(compiler->identity).substr(0, 32), ".version");
  if (std::optional<std::string> line = cache.Kept(kept)) {
    compiler->version = std::move(*line);
    return {};
  }
  std::vector<std::string> command = compiler->command;
  command.emplace_back("--version");
  Expected<Finished> run = RunProcess(command);
  if (!run.ok()) return run.TakeError();
  if (!run->ok())
    return MakeError("BD012",
                     StrCat(CommandText(command), " fails (exit code ", run->exit_code,
                            "): ", Trim(run->output), "; set CXX and CC to compilers that work"));
  compiler->version = Trim(Split(run->output, '\n')[0]);
  cache.Keep(kept, compiler->version);
  return {};
}

Expected<Compiler> Find(const char* variable, const char* language,
                        std::initializer_list<const char*> names, const Cache& cache) {
  Compiler compiler;
  if (const std::string asked(Trim(EnvironmentVariable(variable))); !asked.empty()) {
    for (const std::string& word : Split(asked, ' '))
      if (!word.empty()) compiler.command.push_back(word);
    const std::string program = FindProgram(compiler.command[0]);
    if (program.empty())
      return MakeError("BD012",
                       StrCat("no ", language, " compiler found: ", variable, " is \"", asked,
                              "\", and ", compiler.command[0], " is no program in PATH; unset ",
                              variable, " or install it"));
    compiler.command[0] = program;
  } else {
    for (const char* name : names)
      if (std::string program = FindProgram(name); compiler.command.empty() && !program.empty())
        compiler.command.push_back(std::move(program));
  }
  if (compiler.command.empty())
    return MakeError(
        "BD012",
        StrCat("no ", language, " compiler found in PATH (",
               EnvironmentVariable("PATH").empty() ? "which is empty" : EnvironmentVariable("PATH"),
               "): install one, `apt-get install g++` on Debian and Ubuntu, `dnf "
               "install gcc-c++` on Fedora, or set ",
               variable));
  for (const std::string& word : compiler.command) {
    const std::string program = FindProgram(word);
    Expected<std::string> hash = program.empty() ? word : cache.ContentHash(program);
    compiler.identity += StrCat(program, " ", hash.ok() ? *hash : "unreadable", "\n");
  }
  OPWRIGHT_RETURN_IF_ERROR(ReadVersion(&compiler, cache));
  compiler.identity += compiler.version;
  compiler.clang = compiler.version.find("clang") != std::string::npos;
  return compiler;
}

// Whether a flag says what the compiler assumes of the machine, or where it searches.
bool IsAssuming(const std::string& flag) {
  for (const char* start : {"-m",
                            "--sysroot=",
                            "-isysroot",
                            "-iwithprefix",
                            "-iprefix",
                            "-imultilib",
                            "-iwithsysroot",
                            "-iframework",
                            "-F",
                            "-cxx-isystem",
                            "--include-directory=",
                            "-Wp,-I",
                            "-Wp,-i",
                            "-nostdinc",
                            "-nostdlibinc",
                            "-nobuiltininc",
                            "-stdlib",
                            "-target",
                            "--target=",
                            "-B",
                            "--prefix=",
                            "-gcc-toolchain",
                            "--gcc-toolchain=",
                            "--gcc-install-dir=",
                            "-resource-dir",
                            "-specs=",
                            "--specs="})
    if (flag.starts_with(start)) return true;
  return false;
}

// From what -v says: the folders of the list, and those that are left out because they are not
// there.
std::vector<std::string> SearchedFolders(std::string_view text) {
  constexpr std::string_view kAbsent = "ignoring nonexistent directory \"";
  std::vector<std::string> folders;
  for (const std::string& line : Split(text, '\n')) {
    if (line.starts_with(" /")) folders.push_back(line.substr(1));
    if (line.starts_with(kAbsent) && line.ends_with('"'))
      folders.push_back(line.substr(kAbsent.size(), line.size() - kAbsent.size() - 1));
  }
  return folders;
}

}  // namespace

std::string FindProgram(const std::string& name) {
  if (name.find('/') != name.npos) return Runnable(name) ? AbsolutePath(name) : "";
  const std::string path = EnvironmentVariable("PATH");
  if (path.empty()) return "";
  for (const std::string& folder : Split(path, ':')) {
    const std::string candidate = AbsolutePath(JoinPath(folder.empty() ? "." : folder, name));
    if (Runnable(candidate)) return candidate;
  }
  return "";
}

Expected<Compiler> FindCxxCompiler(const Cache& cache) {
  return Find("CXX", "C++", {"c++", "g++", "clang++"}, cache);
}

Expected<Compiler> FindCCompiler(const Cache& cache) {
  return Find("CC", "C", {"cc", "gcc", "clang"}, cache);
}

Expected<Toolchain> FindToolchain(const Cache& cache) {
  Expected<Compiler> cxx = FindCxxCompiler(cache);
  if (!cxx.ok()) return cxx.TakeError();
  Expected<Compiler> c = FindCCompiler(cache);
  if (!c.ok()) return c.TakeError();
  return Toolchain{std::move(*cxx), std::move(*c)};
}

Assumed AssumedBy(const Compiler& compiler, const Flags& flags, const Cache& cache) {
  std::vector<std::string> command = compiler.command;
  if (!flags.march.empty()) command.push_back("-march=" + flags.march);
  for (size_t i = 0; i < flags.compile.size(); ++i) {
    const bool next = TakesNextWord(flags.compile[i]);
    if (IsAssuming(flags.compile[i]))
      command.insert(command.end(), flags.compile.begin() + i,
                     flags.compile.begin() + i + 1 + next);
    i += next;
  }
  command.insert(command.end(), {"-Wp,-v", "-dM", "-E", "-x", "c++", "-"});
  const std::string place =
      StrCat(compiler.identity, "\n", CompilerEnvironment(), CommandText(command));
  const std::string kept = StrCat(Sha256Hex(place).substr(0, 32), ".assumed");
  std::optional<std::string> text = cache.Kept(kept);
  if (!text.has_value()) {
    Expected<Finished> run = RunProcess(command);
    // What is wrong with a flag the compilation says.
    if (!run.ok() || !run->ok()) return {};
    text = run->output;
    cache.Keep(kept, *text);
  }
  return {FeaturesOfMacros(*text), SearchedFolders(*text)};
}

std::string CompilerEnvironment() {
  std::string text;
  for (const char* name : {"CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "LIBRARY_PATH",
                           "COMPILER_PATH", "GCC_EXEC_PREFIX", "SOURCE_DATE_EPOCH", "LD_RUN_PATH"})
    if (std::string value = EnvironmentVariable(name); !value.empty())
      text += StrCat(name, "=", value, "\n");
  return text;
}

}  // namespace opwright::build

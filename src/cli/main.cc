// SPDX-License-Identifier: Apache-2.0
//
// The command line: one verb, one function of its own file. CLI11 is read here only.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/file.h"
#include "base/layout.h"
#include "base/text.h"
#include "cli/aoc.h"
#include "cli/build.h"
#include "cli/cache.h"
#include "cli/check.h"
#include "cli/doctor.h"
#include "cli/inspect.h"
#include "cli/validate.h"
#include "opwright/c_api.h"

namespace {

bool IsColored() { return isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr; }

// Seconds above zero. CLI11's own words for that name the largest number there is.
CLI::Validator IsDuration() {
  return {[](const std::string& text) -> std::string {
            double seconds = 0;
            if (CLI::detail::lexical_cast(text, seconds) && seconds > 0 && std::isfinite(seconds))
              return "";
            return opwright::StrCat(text, " is no number of seconds above 0");
          },
          "SECONDS"};
}

// In full: CLI11 wraps -1 to the largest number, as it does one that is larger still.
CLI::Validator IsSeed() {
  return {[](const std::string& text) -> std::string {
            uint64_t seed = 0;
            const char* const end = text.data() + text.size();
            const auto [stop, error] = std::from_chars(text.data(), end, seed);
            if (error == std::errc() && stop == end) return "";
            return opwright::StrCat(text, " is no number from 0 to ", UINT64_MAX);
          },
          "NUMBER"};
}

struct ValidateOptions {
  std::vector<std::string> files;
  std::string format = "text";
};

void AddValidate(CLI::App& app, ValidateOptions* options, int* result) {
  CLI::App* verb = app.add_subcommand("validate", "Check metadef files, all problems in one pass");
  verb->add_option("FILE", options->files, "Metadef files")->required();
  verb->add_option("--format", options->format, "text, json or sarif")
      ->check(CLI::IsMember({"text", "json", "sarif"}));
  verb->callback([options, result] {
    *result = opwright::cli::RunValidate(options->files, options->format, IsColored());
  });
}

void AddBuild(CLI::App& app, opwright::build::Request* request, int* result) {
  CLI::App* verb =
      app.add_subcommand("build", "Compile an operator folder, or sources, to an operator library");
  verb->add_option("SOURCE", request->sources,
                   "One folder; or C++ sources, objects and .json metadefs")
      ->required();
  verb->add_option("-o,--output", request->output,
                   "The library; without it the cache, and its path is printed");
  verb->add_option("--march", request->march,
                   "Instructions that may be used: x86-64-v3, native, ...");
  verb->add_flag("-v,--verbose", request->verbose, "Show the compiler's commands");
  // Each is handed on as it is written; other compiler flags come as they are.
  for (const char* name : {"-I", "-L", "-l", "-D"})
    verb->add_option_function<std::vector<std::string>>(
            name,
            [request, name](const std::vector<std::string>& values) {
              for (const std::string& value : values) request->flags.push_back(name + value);
            },
            "As the compiler has it")
        ->allow_extra_args(false);
  verb->allow_extras();
  verb->callback([verb, request, result] {
    for (const std::string& flag : verb->remaining()) request->flags.push_back(flag);
    *result = opwright::cli::RunBuild(*request);
  });
}

void AddCache(CLI::App& app, std::string* action, int* result) {
  CLI::App* verb = app.add_subcommand("cache", "The cache of built libraries");
  verb->add_option("ACTION", *action, "path, size or clear")
      ->required()
      ->check(CLI::IsMember({"path", "size", "clear"}));
  verb->callback([action, result] { *result = opwright::cli::RunCache(*action); });
}

struct CheckOptions {
  std::string path;
  std::string format = "text";
  opwright::check::Options check;
};

void AddCheck(CLI::App& app, CheckOptions* options, int* result) {
  CLI::App* verb = app.add_subcommand(
      "check", "Run operators between guard pages and compare their gradients with differences");
  verb->add_option("PATH", options->path, "An operator library, or a folder, which is built first")
      ->required();
  verb->add_option("--op", options->check.op, "Only this operator");
  verb->add_option("--seed", options->check.seed, "Of the random numbers")->check(IsSeed());
  verb->add_option("--timeout", options->check.timeout_seconds, "Seconds for one case")
      ->check(IsDuration());
  verb->add_option("--format", options->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  verb->callback([options, result] {
    *result = opwright::cli::RunCheck(options->path, options->check, options->format);
  });
}

struct InspectOptions {
  std::string path;
  std::string format = "text";
  std::optional<std::string> sha256;
};

void AddInspect(CLI::App& app, InspectOptions* options, int* result) {
  CLI::App* verb = app.add_subcommand("inspect", "What an operator library is and holds");
  verb->add_option("LIB", options->path, "An operator library, or a folder, which is built first")
      ->required();
  verb->add_option("--format", options->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  verb->add_option("--verify", options->sha256, "The SHA-256 that the file must have");
  verb->callback([options, result] {
    *result = opwright::cli::RunInspect(options->path, options->format, options->sha256);
  });
}

struct DoctorOptions {
  std::string format = "text";
  opwright::doctor::Options doctor;
};

void AddDoctor(CLI::App& app, DoctorOptions* options, int* result) {
  CLI::App* verb = app.add_subcommand(
      "doctor", "What this machine and environment have, what is wrong, and the cure");
  verb->add_option("--python", options->doctor.python,
                   "The Python to ask; else that of $VIRTUAL_ENV, else python3 in PATH");
  verb->add_option("--timeout", options->doctor.seconds, "Seconds for Python's answer")
      ->check(IsDuration());
  verb->add_option("--format", options->format, "text or json")
      ->check(CLI::IsMember({"text", "json"}));
  verb->callback([options, result] {
    *result = opwright::cli::RunDoctor(options->doctor, options->format, IsColored());
  });
}

void PrintLine(const std::string& text) {
  printf("%s\n", text.c_str());
  throw CLI::Success();
}

std::vector<std::string> Commands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(verb->get_name());
  return names;
}

int UnknownCommand(const std::vector<std::string>& names, const std::string& given) {
  const std::string nearest = opwright::Nearest(given, names);
  fprintf(stderr, "error: no command %s; there are %s%s\n", given.c_str(),
          opwright::JoinAnd(names).c_str(),
          nearest.empty() ? "" : opwright::StrCat("; did you mean ", nearest, "?").c_str());
  return 2;
}

int Run(int argc, char** argv) {
  if (opwright::BaseName(argv[0]) == "aoc") return opwright::cli::RunAoc(argc, argv);
  CLI::App app("Custom operators, correct to their gradients", "opwright");
  app.require_subcommand(1);
  app.add_flag_callback("--version", [] { PrintLine(opwright_version()); }, "Print the version");
  app.add_flag_callback(
      "--cmake-dir", [] { PrintLine(opwright::Layout().cmake_dir); },
      "Print the folder of OpwrightConfig.cmake, for CMAKE_PREFIX_PATH");
  int result = 0;
  ValidateOptions validate;
  AddValidate(app, &validate, &result);
  opwright::build::Request build;
  AddBuild(app, &build, &result);
  std::string cache_action;
  AddCache(app, &cache_action, &result);
  CheckOptions check;
  AddCheck(app, &check, &result);
  InspectOptions inspect;
  AddInspect(app, &inspect, &result);
  DoctorOptions doctor;
  AddDoctor(app, &doctor, &result);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    // Of a command that there is, an argument is missing.
    const std::vector<std::string> names = Commands(app);
    if (argc > 1 && argv[1][0] != '-' &&
        std::find(names.begin(), names.end(), argv[1]) == names.end())
      return UnknownCommand(names, argv[1]);
    app.exit(error);
    return 2;
  } catch (const CLI::ParseError& error) {
    // 0 for --help and the like; a wrong command line is 2, as for a file that cannot be read.
    return app.exit(error) == 0 ? 0 : 2;
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  int result = Run(argc, argv);
  const int failed = fflush(stdout) != 0 ? errno : 0;
  if (ferror(stdout) != 0) {
    fprintf(stderr, "error: cannot write to standard output%s%s\n", failed != 0 ? ": " : "",
            failed != 0 ? std::strerror(failed) : "");
    if (result == 0) result = 2;
  }
  // Not by exit(): destructors of a library that was loaded must not decide what the command says.
  _exit(result);
}

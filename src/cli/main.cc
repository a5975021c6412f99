// SPDX-License-Identifier: Apache-2.0
//
// The command line: one verb, one function of its own file. CLI11 is read here only.
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "base/file.h"
#include "cli/aoc.h"
#include "cli/build.h"
#include "cli/cache.h"
#include "cli/validate.h"

namespace {

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
    const bool color = isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
    *result = opwright::cli::RunValidate(options->files, options->format, color);
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

}  // namespace

int main(int argc, char** argv) {
  if (opwright::BaseName(argv[0]) == "aoc") return opwright::cli::RunAoc(argc, argv);
  CLI::App app("Custom operators, correct to their gradients", "opwright");
  app.require_subcommand(1);
  int result = 0;
  ValidateOptions validate;
  AddValidate(app, &validate, &result);
  opwright::build::Request build;
  AddBuild(app, &build, &result);
  std::string cache_action;
  AddCache(app, &cache_action, &result);
  CLI11_PARSE(app, argc, argv);
  return result;
}

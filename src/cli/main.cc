// SPDX-License-Identifier: Apache-2.0
//
// The command line: one verb, one function of its own file. CLI11 is read here only.
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

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

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Custom operators, correct to their gradients", "opwright");
  app.require_subcommand(1);
  int result = 0;
  ValidateOptions validate;
  AddValidate(app, &validate, &result);
  CLI11_PARSE(app, argc, argv);
  return result;
}

// SPDX-License-Identifier: Apache-2.0
#include "cli/aoc.h"

#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "build/flags.h"
#include "cli/build.h"
#include "opwright/c_api.h"

namespace opwright::cli {
namespace {

constexpr char kUsage[] =
    "usage: aoc -kernel SOURCE... [-o LIBRARY.so] [-I DIR] [-L DIR] [-l NAME] [-D NAME=VALUE] "
    "[--march=ARCH] [-v]\n"
    "\n"
    "Compiles kernel classes to an operator library. Further sources, objects, archives and .json "
    "metadefs\n"
    "may be named; other flags go to the C++ compiler. Without -o the library goes into the cache, "
    "and its\n"
    "path is printed. -lacl is satisfied. -v shows the commands.\n";

constexpr int kWrongUse = 2;

int Refuse(const std::string& message) {
  std::fprintf(stderr, "error: %s [BD024]\n%s", message.c_str(), kUsage);
  return kWrongUse;
}

}  // namespace

int RunAoc(int argc, char** argv) {
  build::Request request;
  request.allow_no_metadef = true;
  const std::vector<std::string> words(argv + 1, argv + argc);
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    // The value of `-name VALUE`, `--name VALUE` or `-name=VALUE`.
    std::string value;
    bool lacking = false;
    const auto is = [&](std::string_view name) {
      std::string_view rest = word;
      if (rest.starts_with("--") && name.size() > 2) rest.remove_prefix(1);
      if (!rest.starts_with(name)) return false;
      rest.remove_prefix(name.size());
      if (!rest.empty() && rest[0] != '=') return false;
      if (!rest.empty()) {
        value = rest.substr(1);
      } else if (i + 1 < words.size()) {
        value = words[++i];
      } else {
        lacking = true;
      }
      return true;
    };
    if (word == "-h" || word == "--help" || word == "-help") {
      std::fputs(kUsage, stdout);
      return 0;
    } else if (word == "--version") {
      std::printf("aoc (Opwright) %s\n", opwright_version());
      return 0;
    } else if (word == "-v" || word == "--verbose") {
      request.verbose = true;
    } else if (is("-kernel")) {
      if (!lacking) request.sources.push_back(value);
    } else if (is("-o")) {
      request.output = value;
    } else if (word.starts_with("-o")) {  // joined, as compilers take it
      request.output = word.substr(2);
    } else if (is("-march")) {
      request.march = value;
    } else if (build::TakesNextWord(word)) {
      lacking = i + 1 == words.size();
      if (!lacking) request.flags.insert(request.flags.end(), {word, words[++i]});
    } else if (word.starts_with("--") || word.starts_with("-k")) {
      const std::vector<std::string> known = {"-kernel",   "--kernel", "--march",
                                              "--verbose", "--help",   "--version"};
      const std::string near = Nearest(word, known);
      return Refuse(StrCat(word, " is no option of aoc",
                           near.empty() ? "" : StrCat("; is ", near, " meant?")));
    } else if (word.starts_with('-')) {
      request.flags.push_back(word);
    } else {
      request.sources.push_back(word);
    }
    if (lacking) return Refuse(StrCat(word, " has no value"));
  }
  if (request.sources.empty()) return Refuse("no kernel: say -kernel SOURCE");
  Expected<build::Result> result = BuildAndTell(request);
  if (!result.ok()) return 1;
  if (request.output.empty() || request.verbose) std::printf("%s\n", result->path.c_str());
  return 0;
}

}  // namespace opwright::cli

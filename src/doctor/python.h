// SPDX-License-Identifier: Apache-2.0
//
// What a Python says of itself and of its packages. It runs in a child process with a time limit,
// and reads the packages' metadata: no framework is imported.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace opwright::doctor {

struct Python {
  std::string program;  // absolute; "" when there is none
  std::string asked;  // what named it: "--python X", "VIRTUAL_ENV X"; "" for PATH
  bool timed_out = false;
  int exit_code = 0;
  std::string output;  // all that it printed
  std::map<std::string, std::string, std::less<>> facts;

  // "" when it did not say so.
  std::string Fact(std::string_view key) const;
  // Its answer came whole: the packages are known.
  bool answered() const { return facts.contains("packages"); }
  // The version of a distribution, "" when it is not installed.
  std::string VersionOf(std::string_view package) const;
};

// program: a path or a name in PATH; "": that of $VIRTUAL_ENV, else python3 in PATH.
Python AskPython(const std::string& program, double seconds);

// sys.prefix of another Python, "" when it does not say.
std::string PrefixOf(const std::string& program);

// "2.13.0+cpu" is older than 3.0, and not older than 2.13. What is no version is not older.
bool IsOlder(std::string_view version, int major, int minor = 0);

}  // namespace opwright::doctor

// SPDX-License-Identifier: Apache-2.0
//
// The user's compiler flags: sorted into those of the compiler and those of the linker, paths made
// absolute, folders looked at, what would harm a library taken out with a warning.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace opwright::build {

struct Flags {
  std::vector<std::string> compile;
  std::vector<std::string> link;  // -L, -l, -Wl,... in the order given
  std::vector<std::string> include_dirs;  // of -I, -iquote and -isystem, absolute
  std::vector<std::string> library_dirs;  // of -L, absolute
  // Files that a -l finds in a -L folder of the user, or that a word for the linker names.
  std::vector<std::string> libraries;
  std::string march;  // "" the baseline
  std::vector<Diagnostic> warnings;
};

// march: of --march, "" when not given; a -march= among the flags says the same.
Expected<Flags> ReadFlags(const std::vector<std::string>& flags, const std::string& march);

// Whether the flag is one whose value is the next word, as -I is and -IDIR is not.
bool TakesNextWord(std::string_view flag);

// The flags every user source is compiled with, before the user's own.
std::vector<std::string> BaseCompileFlags(bool clang);

// Those of every operator library.
std::vector<std::string> BaseLinkFlags();

}  // namespace opwright::build

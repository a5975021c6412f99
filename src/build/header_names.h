// SPDX-License-Identifier: Apache-2.0
//
// Names of headers that a source may ask for and that were not there when it was compiled: what
// __has_include did not find. No compiler lists them.
#pragma once

#include <set>
#include <string>
#include <string_view>

namespace opwright::build {

// Each name that a preprocessor line of a text spells, which may be the name of a header: between
// quotes or angles, as a condition, a definition or a flag's macro has it, or a bare word with a
// dot or a slash, out of which a macro makes a string. Too many rather than too few.
void AddHeaderNames(std::string_view text, std::set<std::string>* names);

// The same of the value of a -D.
void AddHeaderNamesOfLine(std::string_view line, std::set<std::string>* names);

// Whether a text asks whether a header is there.
bool AsksForHeaders(std::string_view text);

}  // namespace opwright::build

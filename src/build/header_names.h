// SPDX-License-Identifier: Apache-2.0
//
// Names of headers that a source may ask for and that were not there when it was compiled: what
// __has_include did not find. No compiler lists them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opwright::build {

// Each name that a preprocessor line of a source or of a header spells, or the value of a -D, and
// that is none of the headers that were read. None where nothing asks whether a header is there.
std::vector<std::string> AbsentNames(std::string_view source,
                                     const std::vector<std::string>& command,
                                     const std::vector<std::string>& headers);

}  // namespace opwright::build

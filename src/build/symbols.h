// SPDX-License-Identifier: Apache-2.0
//
// The names that objects, archives and shared libraries define.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace opwright::build {

// The kernel of an operator: this and the operator's name. As opwright/kernel.h defines it.
inline constexpr std::string_view kTablePrefix = "opwright_kernel_";

// Mangled; empty when the file cannot be read. An archive: those of all members.
std::vector<std::string> DefinedSymbols(const std::string& path);

// The names that an object or the members of an archive use and do not define themselves, mangled.
std::vector<std::string> UndefinedSymbols(const std::string& path);

// "helper" of "ns::helper(int)" and of "int helper<float>(float)".
std::string FunctionName(const std::string& demangled);

}  // namespace opwright::build

// SPDX-License-Identifier: Apache-2.0
//
// Names that an operator, or what belongs to one, cannot have.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace opwright::metadef {

inline constexpr size_t kMaxNameLength = 64;

// [a-z][a-z0-9_]*
bool IsSnakeName(std::string_view name);
// [A-Za-z_][A-Za-z0-9_]*
bool IsSymbolName(std::string_view name);

// Keywords of C, C++ and Python that match the pattern.
std::span<const std::string_view> Keywords();
// Functions of the C and maths libraries, and main.
std::span<const std::string_view> LibraryNames();
// Arguments that Opwright and the frameworks pass themselves, or take for their own.
std::span<const std::string_view> ArgumentNames();
// PyTorch's compiler has arguments of its own beside those that a call gives by name: attributes,
std::span<const std::string_view> CompilerArguments();
// those of operators with "side_effect", which go through other functions,
std::span<const std::string_view> EffectArguments();
// and all inputs and attributes of operators with "mutates".
std::span<const std::string_view> MutationArguments();
// Attributes of acl.ops and of every namespace in torch.ops, which hide an operator of that name.
std::span<const std::string_view> HiddenOperatorNames();
// Namespaces that belong to torch, and attributes of torch.ops, which hide a namespace.
std::span<const std::string_view> TakenNamespaces();
// Functions of the shape rules.
std::span<const std::string_view> RuleFunctions();

bool Contains(std::span<const std::string_view> names, std::string_view name);

}  // namespace opwright::metadef

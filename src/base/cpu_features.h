// SPDX-License-Identifier: Apache-2.0
//
// The instruction sets that a library may use and a processor has, as numbers that libraries carry.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace opwright {

// Bits of the note's `features`.
using CpuFeatures = std::array<uint32_t, 4>;

// From what a compiler defines: "#define __AVX2__ 1" and other lines.
CpuFeatures FeaturesOfMacros(std::string_view macros);

// The highest architecture level whose instructions this processor has: "x86-64" to "x86-64-v4".
const char* ProcessorLevel();

// Names of what the features have and this processor, or its system, has not: "avx2", as -m takes
// it.
std::vector<std::string> MissingFeatures(const CpuFeatures& features);

}  // namespace opwright

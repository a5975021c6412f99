// SPDX-License-Identifier: Apache-2.0
//
// What the objects of this process are mapped from. Handles are dlopen's.
#pragma once

#include <cstdint>
#include <string>

namespace opwright {

// The object that the system's loader knows by a name or path, which stays from now on; null when
// there is none.
void* MappedAs(const std::string& name);

// The path that it was opened by: another file may have that by now.
std::string MappedPath(void* handle);

// Hex digits, "" when it has none.
std::string MappedBuildId(void* handle);

// The number of the file that the object at an address is mapped from, 0 when it is not known. The
// mapping itself is asked: its path may name another file by now. Devices are not compared, since
// some file systems show another one here than to stat.
uint64_t MappedInode(const void* address);

// Whether a file has the content that is mapped, as far as file numbers and build ids tell.
bool IsContentOf(void* handle, const std::string& path);

}  // namespace opwright

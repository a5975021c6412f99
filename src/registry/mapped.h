// SPDX-License-Identifier: Apache-2.0
//
// What the objects of this process are mapped from. Handles are dlopen's.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

namespace opwright {

// An object that cannot be unmapped while this is held.
using Mapped = std::shared_ptr<void>;

// The object that the system's loader knows by a name or path; null when there is none.
Mapped MappedAs(const std::string& name);

// The path that it was opened by: another file may have that by now.
std::string MappedPath(void* handle);

// Hex digits, "" when it has none.
std::string MappedBuildId(void* handle);

// The number of the file that it is mapped from, 0 when it is not known. The mapping itself is
// asked: its path may name another file by now. Files of two devices may have one number, and
// devices are not compared, since some file systems show another one here than to stat.
uint64_t MappedInode(void* handle);

// Whether a file that was read has the content that is mapped: by its build id; where it has none,
// by its bytes, as far as the mapped ones can still be read.
bool IsContent(void* handle, const std::string& build_id, const std::string& bytes);
bool IsContentOf(void* handle, const std::string& path);

}  // namespace opwright

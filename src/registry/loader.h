// SPDX-License-Identifier: Apache-2.0
//
// From a path to a loaded library: the path resolved, the file read and judged, then mapped. One
// entry in this process for each content.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "registry/library.h"

namespace opwright {

// The absolute path of a library. A bare file name that is not in the working folder is looked up
// in $OPWRIGHT_PATH, read now. LD001 with the given path, the resolved one and the working folder.
Expected<std::string> ResolveLibraryPath(const std::string& path);

// sha256: 64 hex digits that the file must have; none: any. Errors LD001 ... LD012 and, of the
// private copy, CA001 ... CA003.
Expected<LibraryHandle> LoadLibrary(const std::string& path,
                                    const std::optional<std::string>& sha256 = std::nullopt);

// The open libraries, in the order of their first load.
std::vector<std::shared_ptr<Library>> LoadedLibraries();

}  // namespace opwright

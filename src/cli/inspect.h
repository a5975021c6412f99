// SPDX-License-Identifier: Apache-2.0
//
// opwright inspect: what a library is. Its file is judged before any of its code is mapped.
#pragma once

#include <optional>
#include <string>

namespace opwright::cli {

// format: text or json. sha256: 64 hex digits that the file must have, if any. Returns 0; 1 when
// the file is no operator library that this process can load; 2 when it cannot be read, or when
// path is a folder, which is built first, and does not build.
int RunInspect(const std::string& path, const std::string& format,
               const std::optional<std::string>& sha256);

}  // namespace opwright::cli

// SPDX-License-Identifier: Apache-2.0
//
// The cache folder: $OPWRIGHT_CACHE, else $XDG_CACHE_HOME/opwright, else ~/.cache/opwright; mode
// 0700, refused when others can write to it.
#pragma once

#include <string>

#include "base/error.h"

namespace opwright {

// The path, whether it is there or not.
std::string CacheFolderPath();

// Makes the folder (and `below` in it) if needed. CA001: it belongs to somebody else or others can
// write to it. CA002: it cannot be made or written.
Expected<std::string> CacheFolder(const std::string& below = "");

}  // namespace opwright

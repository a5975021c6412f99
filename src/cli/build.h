// SPDX-License-Identifier: Apache-2.0
//
// opwright build: an operator folder, or sources and metadefs, to an operator library.
#pragma once

#include "build/build.h"

namespace opwright::cli {

// Warnings and errors to stderr, the library's path to stdout. Returns the exit code.
int RunBuild(const build::Request& request);

// What RunBuild and RunAoc share: runs the build and tells what happened, without the path.
Expected<build::Result> BuildAndTell(const build::Request& request);

}  // namespace opwright::cli

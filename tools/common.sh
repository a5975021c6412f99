# SPDX-License-Identifier: Apache-2.0
# Read by the other scripts: where things are and how they speak.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
jobs=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}

step() { printf '\n==> %s\n' "$*"; }

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# Configures once and builds the preset; CMake itself sees when to configure again.
build_preset() {
  step "building preset $1"
  [ -f "build/$1/build.ninja" ] || cmake --preset "$1"
  cmake --build --preset "$1" -j "$jobs"
}

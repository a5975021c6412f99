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

# Configures each time, which takes a second at most: the build environment may be newer than the cache.
build_preset() { # PRESET [TARGET...]
  local preset=$1
  shift
  step "building preset $preset"
  cmake --preset "$preset"
  cmake --build --preset "$preset" -j "$jobs" ${1:+--target "$@"}
}

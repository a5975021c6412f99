#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/lint.sh check    formatting and lint of C++, Python and CMake; changes nothing
# tools/lint.sh format   writes the formatting
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
bin=$PWD/.venv-lint/bin

mapfile -t cpp < <(git ls-files -- '*.h' '*.c' '*.cc')
mapfile -t cmake < <(git ls-files -- '*CMakeLists.txt' '*.cmake')

if [ "$1" = format ]; then
  "$bin/clang-format" -i "${cpp[@]}"
  "$bin/ruff" check --fix-only -q
  "$bin/ruff" format -q
  "$bin/gersemi" -i "${cmake[@]}"
  exit
fi

failed=0
step "clang-format"
"$bin/clang-format" --dry-run -Werror "${cpp[@]}" || failed=1
step "ruff"
"$bin/ruff" check || failed=1
"$bin/ruff" format --check || failed=1
step "gersemi"
"$bin/gersemi" --check "${cmake[@]}" || failed=1

build_preset dev
step "clang-tidy"
"$bin/python" "$bin/run-clang-tidy.py" -quiet -j "$jobs" -p build/dev -clang-tidy-binary "$bin/clang-tidy" \
  -warnings-as-errors='*' "^$PWD/(src|entries|python|tests|bench)/.*" || failed=1
[ "$failed" -eq 0 ] || die "lint found the above; make format repairs formatting"
echo "lint found nothing"

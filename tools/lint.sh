#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# tools/lint.sh check    formatting and lint of C++, Python and CMake; changes nothing
# tools/lint.sh format   writes the formatting
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
bin=$PWD/.venv-lint/bin

mapfile -t cpp < <(git ls-files -- '*.h' '*.c' '*.cc' '*.cpp')
mapfile -t cmake < <(git ls-files -- '*CMakeLists.txt' '*.cmake')

if [ "$1" = format ]; then
  "$bin/clang-format" -i "${cpp[@]}"
  "$bin/ruff" check --fix-only -q
  "$bin/ruff" format -q
  "$bin/gersemi" -i "${cmake[@]}"
  exit
fi

failed=()
step "clang-format"
"$bin/clang-format" --dry-run -Werror "${cpp[@]}" || failed+=(clang-format)
step "ruff"
"$bin/ruff" check || failed+=("ruff check")
"$bin/ruff" format --check || failed+=("ruff format")
step "gersemi"
"$bin/gersemi" --check "${cmake[@]}" || failed+=(gersemi)

build_preset dev
step "clang-tidy" # of each file of ours that is compiled
"$bin/python" "$bin/run-clang-tidy.py" -quiet -j "$jobs" -p build/dev -clang-tidy-binary "$bin/clang-tidy" \
  -warnings-as-errors='*' "^$PWD/(?!build/|\.)" || failed+=(clang-tidy)
[ ${#failed[@]} -eq 0 ] || die "found something: ${failed[*]} (make format repairs formatting)"
echo "lint found nothing"

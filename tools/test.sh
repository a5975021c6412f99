#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# All tests: C++ (preset dev), Python with numpy 1 and with numpy 2, C++ again under the address and
# undefined-behaviour sanitizers. A failure does not stop the rest; the summary and the exit code tell.
# JUnit files in build/test-results/. The README's support table has to be that of these results.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

results=$PWD/build/test-results
rm -rf "$results"
mkdir -p "$results"
summary=()
failed=0

# Runs a command under a name and remembers how it went.
run() { # NAME COMMAND...
  local name=$1 started=$SECONDS verdict=passed
  shift
  step "$name"
  "$@" || {
    verdict="FAILED ($?)"
    failed=1
  }
  summary+=("$(printf '%-34s %-12s %4d s' "$name" "$verdict" $((SECONDS - started)))")
}

ctest_preset() { # PRESET ARGUMENT...
  local preset=$1
  shift
  ctest --preset "$preset" -j "$jobs" --no-tests=error --output-junit "$results/cpp-$preset.xml" "$@"
}

# Each folder is a process of its own: frameworks share no process unless a test wants it.
python_tests() { # VENV SUFFIX FOLDER
  PYTHONPATH=$PWD/build/dev:$PWD/compat PATH=$PWD/$1/bin:$PATH \
    "$1/bin/python" -m pytest "$3" --junitxml "$results/python-$(basename "$3")-$2.xml"
}

build_preset dev
run "C++" ctest_preset dev
for folder in tests/python/*/; do
  ls "$folder"test_*.py >/dev/null 2>&1 || continue
  run "${folder%/}, numpy 1" python_tests .venv numpy1 "${folder%/}"
done
for folder in tests/python/{core,torch,mindspore,docs}; do
  [ -d "$folder" ] || continue
  run "$folder, numpy 2" python_tests .venv-numpy2 numpy2 "$folder"
done
# Label a test no-sanitizer when what it shows cannot be seen under one, such as a crash that is meant.
build_preset asan-ubsan
run "C++, sanitizers" ctest_preset asan-ubsan -LE no-sanitizer

run "support table" .venv/bin/python tools/support_table.py --results "$results" --check

step "summary"
printf '%s\n' "${summary[@]}"
[ "$failed" -eq 0 ] || die "some tests failed"
echo "all passed; results in build/test-results"

#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# All tests: C++ (preset dev), Python with numpy 1 and with numpy 2 side by side, C++ again under the
# address and undefined-behaviour sanitizers. A failure does not stop the rest; the summary and the
# exit code tell. JUnit files in build/test-results/. The README's support table has to be that of
# these results.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

results=$PWD/build/test-results
summary=$results/summary.txt
rm -rf "$results"
mkdir -p "$results"

# Runs a command under a name and remembers how it went.
run() { # NAME COMMAND...
  local name=$1 started=$SECONDS verdict=passed
  shift
  step "$name"
  "$@" || verdict="FAILED ($?)"
  printf '%-34s %-12s %4d s\n' "$name" "$verdict" $((SECONDS - started)) >>"$summary"
}

ctest_preset() { # PRESET ARGUMENT...
  local preset=$1
  shift
  ctest --preset "$preset" -j "$jobs" --no-tests=error --output-junit "$results/cpp-$preset.xml" "$@"
}

# Each folder is a process of its own: frameworks share no process unless a test wants it.
python_tests() { # VENV NUMPY FOLDER...
  local venv=$1 numpy=$2 folder
  shift 2
  for folder in "$@"; do
    PYTHONPATH=$PWD/build/dev:$PWD/compat PATH=$PWD/$venv/bin:$PATH \
      run "tests/python/$folder, $numpy" "$venv/bin/python" -m pytest "tests/python/$folder" \
      --junitxml "$results/python-$folder-${numpy/ /}.xml"
  done
}

build_preset dev
run "C++" ctest_preset dev
python_tests .venv-numpy2 "numpy 2" core torch mindspore docs >"$results/numpy2.log" 2>&1 &
mapfile -t folders < <(printf '%s\n' tests/python/*/test_*.py | xargs -n 1 dirname | xargs -n 1 basename | uniq)
python_tests .venv "numpy 1" "${folders[@]}"
wait
cat "$results/numpy2.log"
# Label a test no-sanitizer when what it shows cannot be seen under one, such as a crash that is meant.
build_preset asan-ubsan
run "C++, sanitizers" ctest_preset asan-ubsan -LE no-sanitizer

run "support table" .venv/bin/python tools/support_table.py --results "$results" --check

step "summary"
cat "$summary"
! grep -q FAILED "$summary" || die "some tests failed"
echo "all passed; results in build/test-results"

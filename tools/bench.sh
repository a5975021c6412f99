#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# All benchmarks, of the release build. Results as JSON in build/bench-results/, and docs/benchmarks.md.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

results=$PWD/build/bench-results
mkdir -p "$results"
build_preset release
for program in build/release/bench/*_bench; do
  [ -x "$program" ] || continue
  step "$(basename "$program")"
  "$program" --benchmark_out="$results/$(basename "$program").json" --benchmark_out_format=json
done
for script in bench/*_bench.py; do
  [ -f "$script" ] || continue
  step "$(basename "$script")"
  PYTHONPATH=$PWD/build/release:$PWD/compat PATH=$PWD/.venv/bin:$PATH \
    .venv/bin/python "$script" --json "$results/$(basename "$script" .py).json"
done
.venv/bin/python tools/benchmarks_page.py --results "$results"

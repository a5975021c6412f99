#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# Builds Opwright and runs the demonstration, examples/demo/demo.py.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

build_preset dev src/all entries/all bridges/all python/all # no tests, no benchmarks
step "demonstration"
export PYTHONPATH=$PWD/build/dev:$PWD/compat PATH=$PWD/.venv/bin:$PATH
# MindSpore's log: errors only; it warns of every empty tensor.
export GLOG_v=${GLOG_v:-3}
exec .venv/bin/python examples/demo/demo.py

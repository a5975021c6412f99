#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
#
# The documentation as HTML in build/docs; prints the path of its first page last.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

.venv-docs/bin/sphinx-build -q -W --keep-going -b html docs build/docs
echo "$PWD/build/docs/index.html"

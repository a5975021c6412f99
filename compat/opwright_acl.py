# SPDX-License-Identifier: Apache-2.0
"""Starts the programs of the installed opwright: `aoc`, and `python -m metadef.validator`."""

from __future__ import annotations

import importlib.util
import os
import sys
from typing import NoReturn


def start(program: str, *first: str) -> NoReturn:
    """Becomes opwright's program, with `first` before the words of this command line."""
    # Found, not imported: the programs need no Python.
    spec = importlib.util.find_spec("opwright")
    if spec is None or not spec.submodule_search_locations:
        sys.exit(f"error: {program} needs the package opwright: pip install opwright")
    path = os.path.join(spec.submodule_search_locations[0], "_lib", program)
    try:
        os.execv(path, [program, *first, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"error: cannot start {path}: {error.strerror}; install opwright again")


def aoc() -> NoReturn:
    start("aoc")

# SPDX-License-Identifier: Apache-2.0
"""Checking operators before the first training step."""

from __future__ import annotations

import json
import math
import numbers
import os
from dataclasses import dataclass

from opwright import _core
from opwright._library import Library
from opwright._operator import Operator


@dataclass(frozen=True)
class Report:
    """What a check found. `text` is what `opwright check` prints; `operators` has a dict for each
    operator with its verdict, gradients and findings; `findings` is what is wrong with the library
    as a whole. True when everything is right."""

    verdict: str  # "right", "wrong" or "undecided"
    operators: list[dict]
    text: str
    findings: list[dict]

    def __bool__(self) -> bool:
        return self.verdict == "right"

    def __str__(self) -> str:
        return self.text


def check(
    target: Operator | Library | str | os.PathLike,
    *,
    name: str | None = None,
    seed: int = 1,
    timeout: float = 60,
) -> Report:
    """Runs operators in child processes between guard pages, gradients against differences.

    `target` is an operator, a library, or the path of a library or an operator folder, of which
    `name` picks one operator. `timeout` is in seconds, for one case. See docs/check.md.
    """
    if not (isinstance(seed, numbers.Integral) and 0 <= seed < 2**64):
        raise ValueError(f"opwright.check: seed is {seed!r}, an int from 0 to 2**64 - 1 is due")
    if not (isinstance(timeout, numbers.Real) and 0 < timeout < math.inf):
        raise ValueError(f"opwright.check: timeout is {timeout!r}, seconds above 0 are due")
    seed = int(seed)
    if isinstance(target, Operator):
        text, raw = _core.check_operator(target._core, seed, timeout)
    elif isinstance(target, Library):
        text, raw = _core.check_library(target._core, name or "", seed, timeout)
    else:
        text, raw = _core.check_path(os.fspath(target), name or "", seed, timeout)
    found = json.loads(raw)
    return Report(found["verdict"], found["operators"], text, found["findings"])

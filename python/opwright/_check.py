# SPDX-License-Identifier: Apache-2.0
"""Checking operators before the first training step."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass

from opwright import _core
from opwright._library import Library
from opwright._operator import Operator


@dataclass(frozen=True)
class Report:
    """What a check found. `text` is what `opwright check` prints; `operators` has a dict for each
    operator with its verdict, gradients and findings. True when everything is right."""

    verdict: str  # "right", "wrong" or "undecided"
    operators: list[dict]
    text: str

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
    if isinstance(target, Library):
        return _together([check(op, seed=seed, timeout=timeout) for op in _to_check(target, name)])
    if isinstance(target, Operator):
        text, raw = _core.check_operator(target._core, seed, timeout)
    else:
        text, raw = _core.check_library(os.fspath(target), name or "", seed, timeout)
    found = json.loads(raw)
    return Report(found["verdict"], found["operators"], text)


def _to_check(library: Library, name: str | None) -> list[Operator]:
    """The one named, or all but those that are checked as the backward operator of another."""
    if name is not None:
        return [library[name]]
    operators = [library[each] for each in library.operators]
    backward = {op.definition.gradient.op for op in operators if op.definition.gradient}
    return [op for op in operators if op.name not in backward]


def _together(reports: list[Report]) -> Report:
    verdicts = {report.verdict for report in reports}
    verdict = next((v for v in ("wrong", "undecided") if v in verdicts), "right")
    operators = [operator for report in reports for operator in report.operators]
    return Report(verdict, operators, "".join(report.text for report in reports))

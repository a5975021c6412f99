# SPDX-License-Identifier: Apache-2.0
"""How many inputs an operator takes that has no metadef: as many as all take that are called with
them."""

from __future__ import annotations

import inspect
from typing import NamedTuple

import numpy as np

from opwright import _errors
from opwright._arguments import counted


class Count(NamedTuple):
    """what: is called with the inputs; most: None for any number."""

    what: str
    least: int
    most: int | None
    names: tuple[str, ...] = ()


def of_callable(what: str, function) -> Count | None:
    """None where Python does not know."""
    if isinstance(function, np.ufunc):
        return Count(what, function.nin, function.nin)
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    is_open = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    least = sum(p.default is p.empty for p in places)
    return Count(what, least, None if is_open else len(places), tuple(p.name for p in places))


def check(op: str, count: int, dues: list[Count]) -> None:
    """CL001 where one of them cannot be called with so many inputs."""
    for due in dues:
        if count < due.least or (due.most is not None and count > due.most):
            raise _errors.make(
                "CL001", f"{op}: {counted(count, 'input')} given, {due.what} takes {_words(due)}"
            )


def _words(due: Count) -> str:
    names = f" ({', '.join(due.names)})" if due.names else ""
    if due.most is None:
        return f"{due.least} or more{names}"
    if due.least == due.most:
        return f"{due.least}{names}"
    return f"{due.least} to {due.most}{names}"

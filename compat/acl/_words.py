# SPDX-License-Identifier: Apache-2.0
"""What the functions take and give: arguments of their types, errors as codes, and the words of
each thread's last failure."""

from __future__ import annotations

import functools
import os
import threading

from opwright import _core
from opwright._errors import Error

# The ids with what the user is to do next and the code that stands for them.
_CURES = {row[0]: row[4] for row in _core.error_ids()}
_CODES = {row[0]: row[1] for row in _core.error_ids()}
_UNKNOWN = _CODES["IN001"]

_thread = threading.local()


def get_recent_err_msg() -> str:
    """What failed last in this thread and what to do next; "" when nothing has."""
    return getattr(_thread, "words", "")


def remember(error: Error) -> int:
    """Keeps the words for this thread; returns the error's code."""
    cure = _CURES.get(error.code)
    _thread.words = f"{error}\nWhat to do: {cure}" if cure else str(error)
    return _CODES.get(error.code, _UNKNOWN)


def coded(function):
    """Errors of the function become its result: their code."""

    @functools.wraps(function)
    def run(*args, **kwargs) -> int:
        try:
            return function(*args, **kwargs)
        except Error as error:
            return remember(error)

    return run


def text(call: str, what: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{call}: {what} is a str, {type(value).__name__} was given")
    return value


def path(call: str, what: str, value: object) -> str:
    plain = os.fspath(value) if isinstance(value, os.PathLike) else value
    if not isinstance(plain, str):
        raise TypeError(f"{call}: {what} is a str or a path, {type(value).__name__} was given")
    if '"op_name"' in plain:
        raise TypeError(
            f"{call}: {what} is the path of a JSON file, the text of one was given; "
            "write it to a file and give its path"
        )
    return plain

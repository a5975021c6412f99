# SPDX-License-Identifier: Apache-2.0
"""Opwright: custom operators with right gradients in every training framework.

    lib = opwright.load("my_op_folder")      # built if it is a folder
    y = lib.my_op(x, bias, scale=2.0)        # numpy arrays or the tensors of a framework

`opwright.torch` and `opwright.mindspore` are imported when they are first used.
"""

from __future__ import annotations

import importlib

from opwright import _hooks
from opwright._check import Report, check
from opwright._core import version as _version
from opwright._errors import (
    BuildError,
    CacheError,
    CallError,
    CheckError,
    DTypeError,
    Error,
    FormulaError,
    GradientError,
    InternalError,
    LoadError,
    MetadefError,
    RegistryError,
    ShapeError,
)
from opwright._library import Library, build, load
from opwright._operator import Operator
from opwright._spec import Spec

__version__ = _version()

__all__ = [
    "BuildError",
    "CacheError",
    "CallError",
    "CheckError",
    "DTypeError",
    "Error",
    "FormulaError",
    "GradientError",
    "InternalError",
    "Library",
    "LoadError",
    "MetadefError",
    "Operator",
    "RegistryError",
    "Report",
    "ShapeError",
    "Spec",
    "build",
    "check",
    "load",
]


def __getattr__(name: str):
    if name in _hooks.ADAPTERS:
        return importlib.import_module(f"opwright.{name}")
    raise AttributeError(f"module 'opwright' has no attribute {name!r}")


def __dir__():
    """What is there to use: not what this file itself imports."""
    own = {name for name in globals() if name.startswith("_")}
    return sorted({*own, *__all__, *_hooks.ADAPTERS})


_hooks.install()

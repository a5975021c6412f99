# SPDX-License-Identifier: Apache-2.0
"""Libraries, and the operators by their registered names: `acl.ops.element_add(x, y)`."""

from __future__ import annotations

import os

import opwright
from acl._state import coded, path, remember, require_init
from opwright import _core
from opwright._errors import RegistryError
from opwright._operator import Operator

__all__ = ["NotRegisteredError", "load_operator_library"]


class NotRegisteredError(RegistryError, AttributeError):
    """No operator has the name in this process. `hasattr(acl.ops, name)` is False then."""


class _Registered(Operator):
    """An operator whose failed calls leave their words to acl.get_recent_err_msg()."""

    def __call__(self, *args, **kwargs):
        try:
            return super().__call__(*args, **kwargs)
        except opwright.Error as error:
            remember(error)
            raise


_found: dict[str, _Registered] = {}


@coded
def load_operator_library(library_path: str | os.PathLike[str]) -> int:
    """Loads an operator library: its kernels can be registered from now on."""
    call = "acl.ops.load_operator_library"
    file = path(call, "library_path", library_path)
    require_init(call)
    if not os.path.isdir(file):  # a folder would be built: the registry refuses it in words
        opwright.load(file)  # shows its warnings
    _core.acl.load(file)
    return 0


def __getattr__(name: str) -> Operator:
    if name.startswith("_"):
        raise AttributeError(f"module 'acl.ops' has no attribute {name!r}")
    try:
        require_init(f"acl.ops.{name}")
        core = _core.acl.find(name)
    except RegistryError as error:
        remember(error)
        raise NotRegisteredError(*error.args, error.code) from None
    known = _found.get(name)
    if known is None or known.key != core.key:
        known = _found[name] = _Registered(core)
    return known


def __dir__() -> list[str]:
    return [*__all__, *_core.acl.names()]

# SPDX-License-Identifier: Apache-2.0
"""Libraries, and the operators by their registered names: `acl.ops.element_add(x, y)`."""

import os as _os
import sys as _sys
import types as _types

# With an underscore, as no operator's name has one: the module's other names would hide operators.
import opwright as _opwright
from acl._state import coded as _coded
from acl._state import path as _path
from acl._state import remember as _remember
from acl._state import require_init as _require_init
from opwright import _core
from opwright._errors import RegistryError as _RegistryError
from opwright._operator import Operator as _Operator

__all__ = ["NotRegisteredError", "load_operator_library"]


class NotRegisteredError(_RegistryError, AttributeError):
    """No operator has the name in this process. `hasattr(acl.ops, name)` is False then."""


class _Registered(_Operator):
    """An operator whose failed calls leave their words to acl.get_recent_err_msg()."""

    def __call__(self, *args, **kwargs):
        try:
            return super().__call__(*args, **kwargs)
        except _opwright.Error as error:
            _remember(error)
            raise


_found: dict[str, _Registered] = {}


@_coded
def load_operator_library(library_path: str | _os.PathLike[str]) -> int:
    """Loads an operator library: its kernels can be registered from now on."""
    call = "acl.ops.load_operator_library"
    file = _path(call, "library_path", library_path)
    _require_init(call)
    if not _os.path.isdir(file):  # a folder would be built: the registry refuses it in words
        _opwright.load(file)  # shows its warnings
    _core.acl.load(file)
    return 0


def __getattr__(name: str) -> _Operator:
    if name.startswith("_"):
        raise AttributeError(f"module 'acl.ops' has no attribute {name!r}")
    try:
        _require_init(f"acl.ops.{name}")
        core = _core.acl.find(name)
    except _RegistryError as error:
        _remember(error)
        raise NotRegisteredError(*error.args, error.code) from None
    known = _found.get(name)
    if known is None or known.key != core.key:
        known = _found[name] = _Registered(core)
    return known


def __dir__() -> list[str]:
    return [*__all__, *_core.acl.names()]


class _Names(dict):
    """The names of this module, with those of the registered operators."""

    def __contains__(self, name):
        return super().__contains__(name) or hasattr(_sys.modules[__name__], name)

    def __missing__(self, name):
        try:
            return getattr(_sys.modules[__name__], name)
        except AttributeError:
            raise KeyError(name) from None


class _Module(_types.ModuleType):
    """MindSpore's compiler looks names up in vars(module) and asks no __getattr__."""

    @property
    def __dict__(self):
        return _Names(super().__dict__)


_sys.modules[__name__].__class__ = _Module

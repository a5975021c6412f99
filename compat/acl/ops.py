# SPDX-License-Identifier: Apache-2.0
"""Libraries, and the operators by their registered names: `acl.ops.element_add(x, y)`."""

import os as _os

# With an underscore, as no operator's name has one: the module's other names would hide operators.
import opwright as _opwright
from acl import _registry, _words
from opwright import _core
from opwright._errors import RegistryError as _RegistryError

__all__ = ["NotRegisteredError", "load_operator_library"]


class NotRegisteredError(_RegistryError, AttributeError):
    """No operator has the name in this process. `hasattr(acl.ops, name)` is False then."""


@_words.coded
def load_operator_library(library_path: str | _os.PathLike[str]) -> int:
    """Loads an operator library: its kernels can be registered from now on."""
    call = "acl.ops.load_operator_library"
    file = _words.path(call, "library_path", library_path)
    _registry.require_init(call)
    if not _os.path.isdir(file):  # a folder would be built: the registry refuses it in words
        _opwright.load(file)  # shows its warnings
    _core.acl.load(file)
    return 0


def __getattr__(name: str) -> _registry.Registered:
    """For names that are no attributes: says why there is no such operator."""
    if name.startswith("_"):
        raise AttributeError(f"module 'acl.ops' has no attribute {name!r}")
    try:
        return _registry.operator(name)
    except _RegistryError as error:
        _words.remember(error)
        raise NotRegisteredError(*error.args, error.code) from None

# SPDX-License-Identifier: Apache-2.0
"""Whether this process is initialised, and its registered operators as attributes of acl.ops."""

from __future__ import annotations

import os
import threading

from acl._words import coded, path, remember
from opwright import _core
from opwright._errors import Error, RegistryError, make
from opwright._operator import Operator


class Registered(Operator):
    """An operator whose failed calls leave their words to acl.get_recent_err_msg()."""

    def __call__(self, *args, **kwargs):
        later = _known.get(self.name, self)
        if later is not self and self._has_become(later):
            return later(*args, **kwargs)
        try:
            return super().__call__(*args, **kwargs)
        except Error as error:
            remember(error)
            raise

    def _has_become(self, later: Registered) -> bool:
        """Whether it was taken before its gradient was registered, and `later` is it with that."""
        return (
            self.backward is None
            and later.backward is not None
            and (self.identity, self.metadef) == (later.identity, later.metadef)
        )


_initialised = False
_lock = threading.RLock()
_known: dict[str, Registered] = {}


def init(config_path: str | os.PathLike[str] | None = None) -> int:
    """Opens the acl form in this process; again is the same. The configuration file is not read."""
    if config_path is not None:
        path("acl.init", "config_path", config_path)
    _open(True)
    return 0


@coded
def finalize() -> int:
    """Closes the acl form. Registrations stay: they are there again after another init()."""
    require_init("acl.finalize")
    _open(False)
    return 0


def require_init(call: str) -> None:
    """Raises RG007 before acl.init() and after acl.finalize()."""
    if not _initialised:
        raise make(
            "RG007",
            f"{call}: the acl form is not initialised in process {os.getpid()}; "
            "call acl.init() first",
        )


def operator(name: str) -> Registered:
    """The operator that can be called by this name; RG001 or RG007 when there is none."""
    with _lock:
        require_init(f"acl.ops.{name}")
        core = _core.acl.find(name)
        known = _known.get(name)
        if known is None or known.key != core.key:
            known = _known[name] = Registered(core)
        return known


def follow(name: str) -> None:
    """Sets or deletes the attribute of acl.ops, as the registry has it now.

    A real one: MindSpore's compiler looks names up in vars(module) and asks no __getattr__.
    """
    from acl import ops

    names = vars(ops)
    with _lock:
        known = _known.get(name)
        if names.get(name, known) is not known:  # the module's own, or what a user has put there
            return
        try:
            names[name] = operator(name)
        except RegistryError:
            names.pop(name, None)


def _open(initialised: bool) -> None:
    global _initialised
    with _lock:
        _initialised = initialised
        for name in _core.acl.names():
            follow(name)

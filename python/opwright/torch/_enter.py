# SPDX-License-Identifier: Apache-2.0
"""How a library's operators become operators of PyTorch, with shapes for tracing and gradients."""

from __future__ import annotations

import threading
from typing import NamedTuple

import torch

from opwright import _core, _errors
from opwright._operator import Operator
from opwright.torch import _gradient, _mutating, _shape

_lock = threading.RLock()
_entered: dict[int, TorchOperator] = {}
# Keeps what torch.library hands out: its end would be the registration's end.
_libraries: list[torch.library.Library] = []


class TorchOperator(NamedTuple):
    overload: torch._ops.OpOverload
    operator: Operator


def enter(library: _core.Library) -> None:
    """Registers every operator of the library; what is registered already stays."""
    with _lock:
        operators = [Operator(library.find(name)) for name in library.operators]
        operators = [op for op in operators if op._core.has_metadef]
        if not operators or operators[0].key in _entered:
            return
        space = _namespace(library, operators)
        if space is None:
            return
        for op in operators:
            name = f"{space or op.definition.namespace}::{op.name}"
            _entered[op.key] = TorchOperator(_overload(name), op)
            _complete(name, op)


def _namespace(library: _core.Library, operators: list[Operator]) -> str | None:
    """The plain namespace; with the content's id when another content has the names."""
    try:
        return library.enter("torch", "")
    except _errors.RegistryError as taken:
        own = f"{operators[0].definition.namespace}_{library.identity[:8]}"
        try:
            return library.enter("torch", own)
        except _errors.RegistryError:
            raise taken from None


def _overload(qualified: str):
    space, name = qualified.split("::")
    return getattr(getattr(torch.ops, space), name).default


def _complete(name: str, op: Operator) -> None:
    torch.library.register_fake(name, _shape.fake_for(op))
    if op.definition.mutates:
        _libraries.append(_mutating.register(name, op))
        return
    setup_context, backward = _gradient.rules_for(op)
    torch.library.register_autograd(name, backward, setup_context=setup_context)


def overload_of(op: Operator):
    """The torch operator of an opwright one, registered now if need be."""
    found = _entered.get(op.key)
    if found is not None:
        return found.overload
    return _register_one(op)


def _register_one(op: Operator):
    # Bound by the acl form, or its library was loaded before PyTorch was there.
    for library in _core.loaded():
        if library.identity == op.identity:
            enter(library)
    if op.key in _entered:
        return _entered[op.key].overload
    with _lock:
        from opwright.torch import _bound

        found = _bound.register(op)
        _entered[op.key] = TorchOperator(found, op)
        return found


def follow() -> None:
    """Makes torch.ops.load_library complete the operators of our libraries."""
    kind = type(torch.ops)
    plain = kind.load_library
    if getattr(plain, "_opwright", False):
        return

    def load_library(self, path):
        plain(self, path)
        try:
            library = _core.load(str(path), "")
        except _errors.LoadError:
            return  # another kind of library: none of our business
        _mapped.append(library)
        enter(library)

    load_library._opwright = True
    kind.load_library = load_library


_mapped: list[_core.Library] = []

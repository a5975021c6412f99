# SPDX-License-Identifier: Apache-2.0
"""How a library's operators become operators of PyTorch, with shapes for tracing and gradients."""

from __future__ import annotations

import threading

import torch

from opwright import _core, _errors
from opwright._operator import Operator
from opwright.torch import _bound, _gradient, _mutating, _shape
from opwright.torch._call import Call

_lock = threading.RLock()
_entered: dict[int, torch._ops.OpOverload] = {}
# Identity of a library that is being entered -> operators made meanwhile, prepared when it is done.
_waiting: dict[str, list[Operator]] = {}
# Keeps what torch.library hands out: its end would be the registration's end.
_libraries: list[torch.library.Library] = []


def enter(library: _core.Library) -> None:
    """Registers every operator of the library; what is registered already stays."""
    with _lock:
        if library.identity in _waiting:
            return
        _waiting[library.identity] = []
        try:
            _register(library)
        finally:
            waiting = _waiting.pop(library.identity)
        for op in waiting:
            prepare(op)


def _register(library: _core.Library) -> None:
    operators = [Operator(library.find(name)) for name in library.operators]
    operators = [op for op in operators if op._core.has_metadef]
    if not operators or operators[0].key in _entered:
        return
    space = _namespace(library, operators)
    if space is None:
        return
    for op in operators:
        name = f"{space or op.definition.namespace}::{op.name}"
        _entered[op.key] = overload(name)
        complete(name, op)


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


def overload(qualified: str):
    space, name = qualified.split("::")
    return getattr(getattr(torch.ops, space), name).default


def complete(name: str, op: Operator) -> None:
    """Shapes for tracing and the gradient of a registered operator."""
    torch.library.register_fake(name, _shape.fake_for(op))
    if op.definition.mutates:
        _libraries.append(_mutating.register(name, op))
        return
    setup_context, backward = _gradient.rules_for(op)
    torch.library.register_autograd(name, backward, setup_context=setup_context)


def overload_of(op: Operator):
    """The torch operator of an opwright one, registered now if need be."""
    if op.key not in _entered:
        for library in _core.loaded():
            if library.identity == op.identity:
                enter(library)
    if op.key not in _entered:  # its metadef was bound by the acl form: no library has it
        with _lock:
            _entered[op.key] = _bound.register(op)
    return _entered[op.key]


def prepare(op: Operator) -> None:
    """Gives the operator its call on torch tensors."""
    if not op._core.has_metadef:
        return
    with _lock:
        if op.identity in _waiting and op.key not in _entered:
            _waiting[op.identity].append(op)
            return
    call = Call(op, overload_of(op))
    op._calls[torch.Tensor] = call
    op._calls[torch.nn.Parameter] = call


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

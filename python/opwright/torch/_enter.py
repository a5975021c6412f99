# SPDX-License-Identifier: Apache-2.0
"""How a library's operators become operators of PyTorch, with shapes for tracing and gradients."""

from __future__ import annotations

import threading
import warnings

import torch

from opwright import _core, _errors
from opwright._definition import Definition
from opwright._operator import Operator, any_rule
from opwright.torch import _autograd, _bound, _cache_key, _mutating, _shape, _traced, _vmap
from opwright.torch._call import Call

_lock = threading.RLock()
_entered: dict[int, torch._ops.OpOverload] = {}
# Keeps what torch.library hands out: its end would be the registration's end.
_libraries: list[torch.library.Library | None] = []

_errors.tracers.append(torch.compiler.is_compiling)


def enter(library: _core.Library) -> None:
    """Registers every operator of the library; what is registered already stays."""
    with _lock:
        cores = [core for core in map(library.find, library.operators) if core.has_metadef]
        if not cores or cores[0].key in _entered:
            return
        _cache_key.add_library(library.identity)
        definitions = [Definition.of(core) for core in cores]
        space = _namespace(library, definitions[0].namespace)
        names = [f"{space or each.namespace}::{each.name}" for each in definitions]
        # All are known before the first Operator is made, which asks for its own.
        for core, name in zip(cores, names, strict=True):
            _entered[core.key] = overload(name)
        for core, name in zip(cores, names, strict=True):
            complete(name, Operator(core))


def _namespace(library: _core.Library, plain: str) -> str:
    """The plain namespace, as ""; with the content's id when another content has the names."""
    try:
        return library.enter("torch", "")
    except _errors.RegistryError as taken:
        try:
            return library.enter("torch", f"{plain}_{library.identity[:8]}")
        except _errors.RegistryError:
            raise taken from None


def overload(qualified: str):
    space, name = qualified.split("::")
    return getattr(getattr(torch.ops, space), name).default


def complete(name: str, op: Operator) -> None:
    """Shapes for tracing and the gradient of a registered operator."""
    torch.library.register_fake(name, _shape.fake_for(op))
    if op.definition.side_effect:
        _traced.keep_every_call(overload(name))
    if op.definition.mutates:
        _libraries.append(_mutating.register(op, overload(name)))
    else:
        _libraries.append(_autograd.register(op, overload(name), overload_of))
        _libraries.append(_vmap.register(op.definition, overload(name)))


def overload_of(op: Operator):
    """The torch operator of an opwright one, registered now if need be."""
    with _lock:
        if op.key not in _entered:
            for library in _core.loaded():
                if library.identity == op.identity:
                    enter(library)
        if op.key not in _entered:  # its metadef was bound by the acl form: no library has it
            _cache_key.add_rule()
            name = _bound.define(op)
            complete(name, op)
            _entered[op.key] = overload(name)
        return _entered[op.key]


def prepare(op: Operator) -> None:
    """Gives the operator its call on torch tensors."""
    if not op._core.has_metadef:
        return
    call = Call(op, overload_of(op))
    op._calls[torch.Tensor] = call
    op._calls[torch.nn.Parameter] = call


def rule_bound(key: int) -> None:
    """A Python rule was bound: what was compiled on disk (_cache_key) and in this process holds the
    one before."""
    _cache_key.add_rule()
    _traced.forget(key)


def closing() -> None:
    """Nothing: calls are done when they return."""


def follow() -> None:
    """Completes what torch.ops.load_library has mapped, and what it maps later."""
    if any_rule():  # bound before PyTorch was there
        _cache_key.add_rule()
    kind = type(torch.ops)
    plain = kind.load_library
    if getattr(plain, "_opwright", False):
        return

    def load_library(self, path):
        plain(self, path)
        _complete_mapped(path)

    load_library._opwright = True
    kind.load_library = load_library
    for path in sorted(torch.ops.loaded_libraries):
        _complete_mapped(path)


def _complete_mapped(path) -> None:
    try:
        library = _core.load(str(path), None)
    except _errors.Error as error:
        if error.code != _NOT_OURS:
            words = f"its operators in PyTorch have no gradients and cannot be traced: {error}"
            warnings.warn(words, RuntimeWarning, stacklevel=3)
        return
    for text in library.warnings:
        warnings.warn(text, RuntimeWarning, stacklevel=3)
    _mapped.append(library)
    enter(library)


_NOT_OURS = "LD007"  # a library of another kind: none of our business
_mapped: list[_core.Library] = []

# SPDX-License-Identifier: Apache-2.0
"""Operators in PyTorch: autograd, torch.compile, Module.

lib = opwright.load("libfused.so")
y = lib.fused_add_scale(x, bias, scale)          # differentiable
y = torch.ops.opwright.fused_add_scale(x, bias, scale)   # the same operator
"""

from __future__ import annotations

import os

import torch as _torch

from opwright import _errors
from opwright._operator import Operator, load
from opwright.torch._module import Module

__all__ = ["Module", "op"]

if tuple(int(part) for part in _torch.__version__.split(".")[:2]) < (2, 10):
    raise _errors.make(
        "RG010", f"opwright.torch needs PyTorch 2.10 or newer, this is {_torch.__version__}"
    )


def op(operator: Operator | str | os.PathLike, name: str | None = None, *, bprop=None) -> Operator:
    """An operator for PyTorch, from an operator or the path of a library or operator folder.

    `name` picks one of a library; a library with one forward operator needs none. `bprop` binds a
    Python rule for its gradient (see `Operator.bprop`).
    """
    if not isinstance(operator, Operator):
        library = load(operator)
        operator = library[name] if name is not None else _only_forward(library)
    if bprop is not None:
        operator.bprop(bprop)
    return operator


def _only_forward(library) -> Operator:
    operators = [library[each] for each in library.operators]
    backward = {op.definition.gradient.op for op in operators if op.definition.gradient is not None}
    forward = [op for op in operators if op.name not in backward]
    if len(forward) != 1:
        raise _errors.make(
            "LD013",
            f"{library.path} has {len(forward)} forward operators "
            f"({', '.join(op.name for op in forward)}); say which one by name",
        )
    return forward[0]

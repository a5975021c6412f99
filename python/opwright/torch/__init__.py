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
from opwright._library import pick
from opwright._operator import Operator
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
    return pick(operator, name, bprop)

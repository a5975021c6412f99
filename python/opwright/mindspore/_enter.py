# SPDX-License-Identifier: Apache-2.0
"""What the hooks call: operators learn to take MindSpore tensors."""

from __future__ import annotations

import sys
import types

import mindspore as ms
from mindspore.graph.api import _pynative_executor

from opwright._operator import Operator
from opwright.mindspore import _graphs
from opwright.mindspore._call import Call, construct, forget_rules

# MindSpore's compiler reads this method of an operator that it meets, and of its __call__.
Operator._mindspore_construct = construct
Operator.__parse_method__ = "_mindspore_construct"
Operator.__call__.__wrapped__ = construct
Operator.__code__ = construct.__code__  # ms.grad wants it of a function


# mindspore.rewrite, on which automatic mixed precision stands, reads the source of whatever a cell
# calls, unless its module has no file.
_NO_SOURCE = types.ModuleType("opwright.mindspore._no_source")
sys.modules[_NO_SOURCE.__name__] = _NO_SOURCE


def prepare(operator: Operator) -> None:
    operator.__module__ = _NO_SOURCE.__name__
    operator._calls[ms.Tensor] = operator._calls[ms.Parameter] = Call(operator)


def enter(library) -> None:
    """Graphs that MindSpore kept in a file find the operators by their tokens."""
    for core in map(library.find, library.operators):
        if core.has_metadef:
            core.token  # noqa: B018


def closing() -> None:
    """PyNative mode runs kernels later than they are called."""
    _pynative_executor.sync()


def rule_bound(key: int) -> None:
    forget_rules()
    _graphs.forget(key)


def follow() -> None:
    """Nothing: MindSpore has no registry of its own."""

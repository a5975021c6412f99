# SPDX-License-Identifier: Apache-2.0
"""What the hooks call: operators learn to take MindSpore tensors."""

from __future__ import annotations

import sys
import types

import mindspore as ms

from opwright._operator import Operator
from opwright.mindspore._call import Call, construct, forget_rules

# MindSpore's compiler reads this method of an operator that it meets.
Operator._mindspore_construct = construct
Operator.__parse_method__ = "_mindspore_construct"


# mindspore.rewrite, on which automatic mixed precision stands, reads the source of whatever a cell
# calls, unless its module has no file.
_NO_SOURCE = types.ModuleType("opwright.mindspore._no_source")
sys.modules[_NO_SOURCE.__name__] = _NO_SOURCE


def prepare(operator: Operator) -> None:
    operator.__module__ = _NO_SOURCE.__name__
    operator._calls[ms.Tensor] = operator._calls[ms.Parameter] = Call(operator)


def enter(library) -> None:
    """Nothing: MindSpore opens libraries by their path."""


def rule_bound() -> None:
    forget_rules()


def follow() -> None:
    """Nothing: MindSpore has no registry of its own."""

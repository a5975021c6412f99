# SPDX-License-Identifier: Apache-2.0
"""The primitives that PyNative mode runs for our operators: one for each content.

MindSpore keeps some 30 KB for each primitive, by its name and attributes, until the process ends,
and reads the attributes of a recorded call when its gradient is computed. So equal content is one
primitive, and none of them changes.
"""

from __future__ import annotations

import types
from collections import OrderedDict

from mindspore.common import dtype as mstype

from opwright.mindspore._checked import Arguments, Checked, made

_MOST = 10_000  # a value that changes with every step makes a primitive each time

_primitives: OrderedDict[tuple, Checked] = OrderedDict()


def primitive_of(operator, arguments: Arguments, attrs: dict) -> Checked:
    """attrs: as add_prim_attr takes them."""
    said = tuple(map(_content, arguments[1:]))
    if _UNEQUAL in said:
        return made(Checked, arguments, attrs)
    key = (*rule_key(operator), said, repr(sorted(attrs.items())) if attrs else "")
    found = _primitives.get(key)
    if found is None:
        if len(_primitives) >= _MOST:
            _primitives.popitem(last=False)
        found = _primitives[key] = made(Checked, arguments, attrs)
    else:
        _primitives.move_to_end(key)
    found.hold(operator)
    return found


def rule_key(operator) -> tuple:
    """What tells an operator with one gradient from the same with another."""
    return operator.key, operator._core.backward_key, operator.python_bprop


def forget_rules() -> None:
    """A rule was bound: primitives with those before are made anew."""
    _primitives.clear()


_UNEQUAL = object()


def _content(value):
    """What is equal for equal arguments of a Custom; _UNEQUAL for what is like nothing else."""
    if value is None or isinstance(value, (str, int, mstype.Type)):
        return repr(value)
    if isinstance(value, (list, tuple)):
        items = tuple(map(_content, value))
        return _UNEQUAL if _UNEQUAL in items else (type(value), items)
    if isinstance(value, dict):
        return _content(list(value.items()))
    # Of one text, and nothing of its own around it: lambdas that a loop makes.
    if isinstance(value, types.FunctionType) and not (
        value.__closure__ or value.__defaults__ or value.__kwdefaults__ or vars(value)
    ):
        return value.__code__, id(value.__globals__)
    return _UNEQUAL

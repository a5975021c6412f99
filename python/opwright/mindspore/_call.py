# SPDX-License-Identifier: Apache-2.0
"""`operator(...)` on MindSpore tensors: in PyNative mode here, in compiled modes by `construct`,
which MindSpore's compiler reads in place of Operator.__call__."""

from __future__ import annotations

import mindspore as ms

from opwright import _arguments
from opwright._framework_of import framework_of
from opwright._operator import Operator
from opwright.mindspore import _attributes, _eager
from opwright.mindspore._attributes import MINDSPORE
from opwright.mindspore._checked import Arguments, Checked, made
from opwright.mindspore._custom import Custom

# For compiled modes: one for each operator and attributes, with the rules that are bound now.
_customs: dict[tuple, Custom] = {}
_MOST = 1000


def primitive_for(op: Operator, attrs: dict) -> Checked:
    """In PyNative mode."""
    known = _attributes.known(op.definition, attrs) if attrs else {}
    return _eager.primitive_of(op, Arguments(op), known)


def custom_for(op: Operator, attrs: dict) -> Custom:
    key = (*_eager.rule_key(op), repr(sorted(attrs.items())))
    custom = _customs.get(key)
    if custom is None:
        if len(_customs) >= _MOST:
            _customs.clear()
        custom = _customs[key] = made(Custom, Arguments(op), attrs)
    custom.hold(op)
    return custom


def forget_rules() -> None:
    """A rule was bound: what has those before is made anew."""
    _customs.clear()
    _eager.forget_rules()


_TENSORS = (ms.Tensor, ms.Parameter)


class Call:
    """One operator on MindSpore tensors, in PyNative mode."""

    def __init__(self, op: Operator):
        self._op = op

    def __call__(self, args, kwargs):
        op = self._op
        names = tuple(param.name for param in op.definition.inputs)
        if not kwargs and len(args) == len(names):
            for value in args:
                if type(value) not in _TENSORS:
                    break
            else:
                return primitive_for(op, kwargs)(*args)
        _arguments.check_count(op.definition, len(args))
        named = _arguments.named_inputs(MINDSPORE, op.definition, len(args), kwargs)
        given = [*args, *(kwargs.get(name) for name in names[len(args) :])]
        framework_of(op.name, given, {})  # which refuses those of others beside MindSpore's
        attrs = {name: value for name, value in kwargs.items() if name not in named}
        primitive = primitive_for(op, attrs)
        primitive.check_lists(given)
        return primitive(*given)


@ms.constexpr
def _place_in_graph(op, names, values):
    attrs = _attributes.known_in_graph(op.definition, dict(zip(names, values, strict=True)))
    return custom_for(op, attrs).place


@ms.constexpr
def _names_in_graph(op, count, keys):
    """What the inputs after the first `count` are called, "" for one that is not given; and the
    attributes."""
    _arguments.check_count(op.definition, count)
    named = _arguments.named_inputs(MINDSPORE, op.definition, count, keys)
    rest = [param.name if param.name in named else "" for param in op.definition.inputs[count:]]
    return tuple(rest), tuple(key for key in keys if key not in named)


# A `construct` that takes any number of inputs and branches, an `if` or a comprehension, has one
# graph for a Cell's construct and its bprop, and MindSpore empties it with the first of them.
def _given(kwargs, names):
    return tuple([kwargs[name] if name else None for name in names])


def construct(self, *args, **kwargs):
    """Read by MindSpore's compiler: `self` is the operator."""
    rest, names = _names_in_graph(self, len(args), tuple(kwargs.keys()))
    inputs = args + _given(kwargs, rest)
    return _place_in_graph(self, names, _given(kwargs, names))((), *inputs)(*inputs)

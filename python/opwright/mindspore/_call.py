# SPDX-License-Identifier: Apache-2.0
"""`operator(...)` on MindSpore tensors: in PyNative mode here, in compiled modes by `construct`,
which MindSpore's compiler reads in place of Operator.__call__."""

from __future__ import annotations

import mindspore as ms
import numpy as np
from mindspore.graph import api

from opwright import _errors
from opwright._operator import Operator
from opwright.mindspore import _attributes
from opwright.mindspore._custom import Custom, make_custom

# One primitive for each operator and attributes, with the rules that are bound now.
_customs: dict[tuple, Custom] = {}
_MOST = 1000  # a value that changes with every step makes a primitive each time


def custom_for(op: Operator, attrs: dict) -> Custom:
    known = _attributes.known(op.name, op.definition, attrs) if attrs else {}
    key = (op.key, op._core.backward_key, repr(sorted(known.items())) if known else "")
    made = _customs.get(key)
    if made is None:
        if len(_customs) >= _MOST:
            _customs.clear()
        made = _customs[key] = make_custom((op,), known)
    made.hold(op)
    return made


def forget_rules() -> None:
    """A rule was bound: primitives and compiled functions with those before are made anew."""
    _customs.clear()
    api.ms_compile_cache.clear()
    for compiled in api.cells_compile_cache.values():
        compiled.clear()


def _check_count(op: Operator, count: int) -> None:
    due = len(op.definition.inputs)
    if count > due:
        raise _errors.make(
            "CL001",
            f"{op.name}: {count} positional arguments given, the metadef lists {due} inputs; "
            "attributes are passed by keyword",
        )


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
                return custom_for(op, kwargs)(*args)
        _check_count(op, len(args))
        if "out" in kwargs:
            raise _errors.make("CL008", f"{op.name}: MindSpore tensors are not written by out=")
        inputs = dict(zip(names, args, strict=False))
        for name in names:
            if name in kwargs:
                if name in inputs:
                    raise _errors.make("CL001", f"{op.name}: input {name} is given twice")
                inputs[name] = kwargs[name]
        attrs = {name: value for name, value in kwargs.items() if name not in names}
        given = [inputs.get(name) for name in names]
        for name, value in zip(names, given, strict=True):
            self._check(name, value)
        return custom_for(op, attrs)(*given)

    def _check(self, name: str, value) -> None:
        if isinstance(value, (np.ndarray, np.generic)):
            raise _errors.make(
                "CL013",
                f"{self._op.name}: tensors of mindspore and numpy in one call; "
                "convert them to one framework",
            )


@ms.constexpr
def _custom_in_graph(op, names, values):
    # None that PyNative mode uses: what MindSpore finds out of a graph's shapes stays there.
    attrs = dict(zip(names, values, strict=True))
    made = make_custom((op,), _attributes.known(op.name, op.definition, attrs))
    made.one_graph = True
    return made


@ms.constexpr
def _names_in_graph(op, count, keys):
    """What the inputs after the first `count` are called, "" for one that is not given; and the
    attributes."""
    names = [param.name for param in op.definition.inputs]
    _check_count(op, count)
    for name in names[:count]:
        if name in keys:
            raise _errors.make("CL001", f"{op.name}: input {name} is given twice")
    rest = tuple(name if name in keys else "" for name in names[count:])
    return rest, tuple(key for key in keys if key not in names)


def construct(self, *args, **kwargs):
    """Read by MindSpore's compiler: `self` is the operator."""
    rest, names = _names_in_graph(self, len(args), tuple(kwargs.keys()))
    inputs = args + tuple([kwargs[name] if name else None for name in rest])
    values = tuple([kwargs[name] for name in names])
    return _custom_in_graph(self, names, values)(*inputs)

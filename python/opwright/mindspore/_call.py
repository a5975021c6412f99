# SPDX-License-Identifier: Apache-2.0
"""`operator(...)` on MindSpore tensors: in PyNative mode here, in compiled modes by `construct`, which
MindSpore's compiler reads in place of Operator.__call__."""

from __future__ import annotations

import mindspore as ms
import numpy as np

from opwright import _core, _errors
from opwright._operator import Operator
from opwright.mindspore import _abstract, _attributes
from opwright.mindspore._custom import Custom
from opwright.mindspore._dtypes import dtype_of

# One primitive for each operator, attributes and rule.
_customs: dict[tuple, Custom] = {}


def custom_for(op: Operator, attrs: dict) -> Custom:
    backward = op.backward
    key = (
        op.key,
        backward.key if backward is not None else 0,
        id(op.python_bprop),
        repr(sorted(attrs.items())),
    )
    made = _customs.get(key)
    if made is None:
        made = _customs[key] = _make(op, attrs)
    return made


def _make(op: Operator, attrs: dict) -> Custom:
    known = _attributes.known(op.name, op.definition, attrs)
    made = Custom(op)
    for name, value in known.items():
        made.add_prim_attr(name, value)
    return made


def _check_count(op: Operator, count: int) -> None:
    due = len(op.definition.inputs)
    if count > due:
        raise _errors.make(
            "CL001",
            f"{op.name}: {count} positional arguments given, the metadef lists {due} inputs; "
            "attributes are passed by keyword",
        )


class Call:
    """One operator on MindSpore tensors, in PyNative mode."""

    def __init__(self, op: Operator):
        self._op = op

    def __call__(self, args, kwargs):
        op = self._op
        names = tuple(param.name for param in op.definition.inputs)
        if not kwargs and len(args) == len(names):
            for value in args:
                if type(value) is not ms.Tensor:
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
        return custom_for(op, attrs)(*_numbers_as_tensors(op, given))

    def _check(self, name: str, value) -> None:
        if isinstance(value, (np.ndarray, np.generic)):
            raise _errors.make(
                "CL013",
                f"{self._op.name}: tensors of mindspore and numpy in one call; "
                "convert them to one framework",
            )


def _numbers_as_tensors(op: Operator, given: list) -> list:
    """Python numbers as 0-d tensors of the dtype of the column that the tensors choose."""
    if not any(isinstance(value, (int, float)) for value in given):
        return given
    names = [_abstract.dtype_names(_abstract.of_value(value)) for value in given]
    column = _core.select_column(op._core, names)
    return [
        ms.Tensor(value, dtype_of(op.definition.inputs[i].dtypes[column]))
        if isinstance(value, (int, float))
        else value
        for i, value in enumerate(given)
    ]


@ms.constexpr
def _custom_in_graph(op, names, values):
    # One of its own for each place in a graph: what MindSpore finds out there stays there.
    return _make(op, dict(zip(names, values, strict=True)))


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

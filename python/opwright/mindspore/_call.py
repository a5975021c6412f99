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
        known = _attributes.known(op.name, op.definition, attrs)
        made = _customs[key] = Custom(op)
        for name, value in known.items():
            made.add_prim_attr(name, value)
    return made


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
        if len(args) > len(names):
            raise _errors.make(
                "CL001",
                f"{op.name}: {len(args)} positional arguments given, the metadef lists "
                f"{len(names)} inputs; attributes are passed by keyword",
            )
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
def _custom_in_graph(op, attrs):
    return custom_for(op, attrs)


@ms.constexpr
def _names_in_graph(op, count, keys):
    """The names of the inputs that are not given by position, and of the attributes."""
    names = [param.name for param in op.definition.inputs]
    if count > len(names):
        raise _errors.make(
            "CL001",
            f"{op.name}: {count} positional arguments given, the metadef lists {len(names)} inputs; "
            "attributes are passed by keyword",
        )
    twice = [name for name in names[:count] if name in keys]
    if twice:
        raise _errors.make("CL001", f"{op.name}: input {twice[0]} is given twice")
    rest = tuple(name if name in keys else None for name in names[count:])
    return rest, tuple(key for key in keys if key not in names)


@ms.constexpr
def _number_in_graph(op, index, value, dtypes):
    names = [[dtype] if dtype else [] for dtype in dtypes]
    names[index] = [f"weak_{type(value).__name__}"]
    column = _core.select_column(op._core, names)
    return ms.Tensor(value, dtype_of(op.definition.inputs[index].dtypes[column]))


def construct(self, *args, **kwargs):
    """Read by MindSpore's compiler: `self` is the operator."""
    if not kwargs:
        return _custom_in_graph(self, {})(*args)
    rest, names = _names_in_graph(self, len(args), tuple(kwargs.keys()))
    inputs = args
    for name in rest:
        inputs = inputs + ((kwargs[name],) if name is not None else (None,))
    attrs = {}
    for name in names:
        attrs[name] = kwargs[name]
    return _custom_in_graph(self, attrs)(*inputs)



# SPDX-License-Identifier: Apache-2.0
"""A call on torch tensors: numbers become tensors, the rest is PyTorch's own dispatch."""

from __future__ import annotations

import torch

from opwright import _core, _errors
from opwright._operator import Operator
from opwright.torch._enter import overload_of
from opwright.torch._shape import as_lists, dtype_names


def call(op: Operator, args, kwargs):
    """op(*args, **kwargs) on torch tensors."""
    overload = overload_of(op)
    out = kwargs.get("out")
    if "out" in kwargs:
        kwargs = {name: value for name, value in kwargs.items() if name != "out"}
    if len(args) > len(op.definition.inputs):
        raise _errors.make(
            "CL001",
            f"{op.name}: {len(args)} positional arguments given, the metadef lists "
            f"{len(op.definition.inputs)} inputs; attributes are passed by keyword",
        )
    if any(isinstance(value, (int, float)) for value in args):
        args = _with_numbers(op, args)
    if kwargs:
        kwargs = {name: _plain(op, name, value) for name, value in kwargs.items()}
    result = overload(*args, **kwargs)
    return result if out is None else _write(op, result, out)


_WEAK = {bool: "weak_bool", int: "weak_int", float: "weak_float"}


def _with_numbers(op: Operator, args):
    """Numbers as 0-d tensors of the dtype of the column that the tensors choose."""
    definition = op.definition
    weak = {i: value for i, value in enumerate(args) if isinstance(value, (int, float))}
    names = dtype_names(as_lists(definition, [None if i in weak else v for i, v in enumerate(args)]))
    for i, value in weak.items():
        names[i] = [_WEAK[type(value)]]
    column = _core.select_column(op._core, names)
    return tuple(
        torch.tensor(value, dtype=getattr(torch, definition.inputs[i].dtypes[column])) if i in weak else value
        for i, value in enumerate(args)
    )


def _plain(op: Operator, name: str, value):
    """Attribute values that a schema does not take as they are: arrays, numpy numbers, dtypes."""
    if isinstance(value, (torch.Tensor, torch.SymInt)) or value is None:
        return value
    attr = next((attr for attr in op.definition.attrs if attr.name == name), None)
    if attr is None:
        return value
    if attr.type == 5:
        from opwright._dtypes import name_of

        return name_of(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    return list(value) if isinstance(value, tuple) else value


def _write(op: Operator, result, out):
    results = result if isinstance(result, tuple) else (result,)
    outs = out if isinstance(out, (tuple, list)) else (out,)
    if len(results) != len(outs):
        raise _errors.make("CL001", f"{op.name}: out= holds {len(outs)} tensors, {len(results)} are due")
    for made, given in zip(results, outs, strict=True):
        if made.requires_grad or given.requires_grad:
            raise _errors.make(
                "CL008", f"{op.name}: out= where a gradient is due; call under torch.no_grad(), or without out="
            )
        if made.shape != given.shape or made.dtype != given.dtype:
            raise _errors.make(
                "CL008",
                f"{op.name}: out= has shape {list(given.shape)} and dtype {given.dtype}, {list(made.shape)} and "
                f"{made.dtype} are due",
            )
    for made, given in zip(results, outs, strict=True):
        given.copy_(made)
    return out

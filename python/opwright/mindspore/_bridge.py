# SPDX-License-Identifier: Apache-2.0
"""The primitives of Opwright's own library for MindSpore: they call any operator of the process."""

from __future__ import annotations

import itertools
import struct
from pathlib import Path

from mindspore import ops

import opwright

LIBRARY = str(Path(opwright.__file__).parent.resolve() / "_lib" / "libopwright_mindspore.so")

_count = itertools.count()
# By attribute type of the binary interface.
_INT, _FLOAT, _STRING, _BOOL, _TYPE = 1, 2, 3, 4, 5
_LIST_FLOAT, _LIST_STRING, _LIST_LIST_INT = 7, 8, 10


def mark_unique(primitive) -> None:
    """MindSpore keeps what it has inferred by a primitive's name and attributes, not by the object."""
    primitive.add_prim_attr("opwright_uid", next(_count))


def point_at(primitive, token: int, num_outputs: int) -> None:
    """The attributes by which the library finds the operator, and MindSpore its shapes."""
    primitive.add_prim_attr("opwright_token", token)
    primitive.add_prim_attr("reg_op_name", "opwright")
    primitive.add_prim_attr("multi_output", num_outputs > 1)
    mark_unique(primitive)


def primitive(function: str, out_dtype, bprop, token: int, num_outputs: int) -> ops.Custom:
    """One function of the library; shapes are its own affair."""
    made = ops.Custom(f"{LIBRARY}:{function}", None, out_dtype, "aot", bprop)
    point_at(made, token, num_outputs)
    return made


def _bits(number: float) -> int:
    return struct.unpack("<q", struct.pack("<d", number))[0]


def encode(kind: int, value):
    """An attribute as entries/mindspore/attrs.h wants it: exact."""
    if kind == _FLOAT:
        return _bits(value)
    if kind == _LIST_FLOAT:
        return [_bits(each) for each in value]
    if kind == _LIST_STRING:
        texts = [str(each) for each in value]
        return "".join(f"{len(text.encode())}:{text}" for text in texts)
    if kind == _LIST_LIST_INT:
        rows = [[int(each) for each in row] for row in value]
        return [len(rows), *(len(row) for row in rows), *(each for row in rows for each in row)]
    if kind in (_STRING, _TYPE):
        return str(value)
    if kind in (_INT, _BOOL):
        return int(value)
    return [int(each) for each in value]

# SPDX-License-Identifier: Apache-2.0
"""The primitives of Opwright's own library for MindSpore: they call any operator of the process."""

from __future__ import annotations

import itertools
import struct
from pathlib import Path

from mindspore import ops

import opwright
from opwright._arguments import KINDS
from opwright.mindspore import _abstract
from opwright.mindspore._dtypes import tensor_type_of

LIBRARY = str(Path(opwright.__file__).parent.resolve() / "_lib" / "libopwright_mindspore.so")

_count = itertools.count()


def mark_unique(primitive) -> None:
    """MindSpore keeps what it has inferred by a primitive's name and attributes, not by the
    object."""
    primitive.add_prim_attr("opwright_uid", next(_count))


def point_at(primitive, token: int, several_outputs: bool) -> None:
    """The attributes by which the library finds the operator, and MindSpore its shapes."""
    primitive.add_prim_attr("opwright_token", token)
    primitive.add_prim_attr("reg_op_name", "opwright")
    primitive.add_prim_attr("multi_output", several_outputs)
    mark_unique(primitive)


# The mark of a primitive that a graph with unknown shapes holds: MindSpore asks the library for
# them, without counting the inputs, and takes no primitive whose mark has gone again.
PARTIAL = "cpp_infer_shape"


def infer_once(inferred: dict, arguments, infer, most: int = 256) -> dict:
    """What infer(arguments) says, by _abstract.key_of in `inferred` from then on."""
    key = _abstract.key_of(arguments)
    found = inferred.get(key)
    if found is None:
        found = infer(arguments)
        if key is not None:
            if len(inferred) >= most:
                inferred.clear()
            inferred[key] = found
    return dict(found)


def inferred_of(shapes, dtypes, several: bool = False) -> dict:
    """The answer of an __infer__, from shape and dtype of each output. several: one is a tuple
    too."""
    if len(shapes) == 1 and not several:
        shapes, dtypes = shapes[0], dtypes[0]
    return {"shape": shapes, "dtype": dtypes, "value": None}


def never(*given):
    """Stands where mindspore.ops.Custom takes out_shape and out_dtype."""
    raise AssertionError("__infer__ answers")


class Like(ops.Custom):
    """One function of the library, whose outputs have shape and dtype of inputs: like[k] of output
    k, or of as many outputs as that list has tensors."""

    def __init__(
        self, function: str, like: tuple[int, ...], token: int, bprop, has_lists: bool = False
    ):
        super().__init__(f"{LIBRARY}:{function}", never, never, "aot", bprop)
        self._like = like
        self._several = has_lists or len(like) > 1
        self._inferred = {}
        point_at(self, token, self._several)

    def __infer__(self, *arguments):
        return infer_once(self._inferred, arguments, self._infer)

    def _infer(self, arguments) -> dict:
        every = [_abstract.of_infer(argument) for argument in arguments]
        if not all(_abstract.is_known(each.shape) for each in every):
            self.add_prim_attr(PARTIAL, True)
        given = [
            each
            for k in self._like
            for each in (every[k].items if every[k].kind in ("list", "tuple") else (every[k],))
        ]
        shapes = tuple([0] if each.kind == "str" else list(each.shape) for each in given)
        return inferred_of(shapes, tuple(map(_tensor_type, given)), self._several)


def _tensor_type(given):
    """Nothing comes of an absent input."""
    number = _abstract.NUMBER_DTYPES.get(type(given.value).__name__, "float32")
    return tensor_type_of(given.dtype or number)


def _bits(number: float) -> int:
    return struct.unpack("<q", struct.pack("<d", number))[0]


def encode(kind: int, value):
    """An attribute as entries/mindspore/attrs.h wants it: exact."""
    match KINDS[kind].name:
        case "float":
            return _bits(value)
        case "list_float":
            return [_bits(each) for each in value]
        case "list_string":
            texts = [str(each) for each in value]
            return "".join(f"{len(text.encode())}:{text}" for text in texts)
        case "list_list_int":
            rows = [[int(each) for each in row] for row in value]
            return [len(rows), *(len(row) for row in rows), *(each for row in rows for each in row)]
        case "string" | "type":
            return str(value)
        case "int" | "bool":
            return int(value)
        case _:
            return [int(each) for each in value]

# SPDX-License-Identifier: Apache-2.0
"""Values as MindSpore's compiler knows them and as Python holds them, in one form.

The compiler describes a value by a dict of shape, dtype and value: a tensor's dtype is a
TensorType, a tuple's are tuples, None's are None. A dimension unknown until run time is -1, an
unknown rank [-2].
"""

from __future__ import annotations

from dataclasses import dataclass

import mindspore as ms
from mindspore.common import dtype as mstype

from opwright._dtypes import name_of
from opwright.mindspore._dtypes import dtype_of, tensor_type_of

UNKNOWN_RANK = (-2,)


@dataclass(frozen=True)
class Abstract:
    """kind: "tensor", "number", "none", or the name of another Python type, "tuple" among them."""

    kind: str
    shape: tuple = ()
    dtype: str = ""
    value: object = None
    items: tuple = ()


_NAMES = {
    id(value): str(value) for value in vars(mstype).values() if isinstance(value, mstype.Type)
}
_NUMBERS = {"int": 0, "float": 0.0, "bool": False}
# What a Python number is to MindSpore.
NUMBER_DTYPES = {"float": "float32", "int": "int64", "bool": "bool"}


def of_value(value) -> Abstract:
    """Of a real value."""
    if isinstance(value, ms.Tensor):
        return Abstract("tensor", tuple(value.shape), name_of(value.dtype))
    if value is None:
        return Abstract("none")
    if isinstance(value, (bool, int, float)):
        return Abstract("number", value=value)
    items = tuple(map(of_value, value)) if isinstance(value, (tuple, list)) else ()
    return Abstract(type(value).__name__, items=items)


def of_infer(given: dict) -> Abstract:
    """Of what __infer__ is given for one argument."""
    return _of(given["shape"], given["dtype"], given.get("value"))


def _of(shape, dtype, value) -> Abstract:
    if dtype is None:
        return Abstract("none")
    if isinstance(dtype, mstype.TensorType):
        return Abstract("tensor", tuple(shape), name_of(dtype.element_type()))
    if isinstance(value, dict):
        return Abstract("dict")
    if isinstance(dtype, (tuple, list)):
        values = value if isinstance(value, (tuple, list)) else [None] * len(dtype)
        items = tuple(_of(*each) for each in zip(shape, dtype, values, strict=True))
        return Abstract(type(dtype).__name__, items=items)
    name = name_of(dtype)
    for kind, zero in _NUMBERS.items():
        if name.startswith(kind):
            return Abstract("number", value=zero if value is None else value)
    return Abstract("str" if name == "string" else name)


def as_infer(each: Abstract) -> dict:
    """What __infer__ is given for a tensor, a number or a list of tensors, where all is known."""
    if each.kind == "number":
        dtype = dtype_of(NUMBER_DTYPES[type(each.value).__name__])
        return {"shape": [], "dtype": dtype, "value": None}
    if each.items:
        items = list(map(as_infer, each.items))
        return {key: tuple(item[key] for item in items) for key in ("shape", "dtype", "value")}
    return {"shape": list(each.shape), "dtype": tensor_type_of(each.dtype), "value": None}


def key_of(arguments) -> tuple | None:
    """What tells the arguments of one __infer__ from those of another, where all are tensors of
    known shapes; else None. PyNative mode infers at every call."""
    key = []
    for given in arguments:
        dtype, shape = given["dtype"], given["shape"]
        if type(dtype) is not mstype.TensorType or -1 in shape or -2 in shape:
            return None
        element = dtype.element_type()
        # In PyNative mode one of MindSpore's own objects, which stay; else a new one each time.
        key.append(_NAMES.get(id(element)) or str(element))
        key.append(tuple(shape))
    return tuple(key)


def is_known(shape) -> bool:
    return all(dim >= 0 for dim in shape)


def may_be_equal(a, b) -> bool:
    """Whether two shapes can be the same at run time."""
    if UNKNOWN_RANK in (tuple(a), tuple(b)):
        return True
    return len(a) == len(b) and all(x == y or x < 0 or y < 0 for x, y in zip(a, b, strict=True))


def dtype_names(given: Abstract) -> list[str]:
    """The dtypes of one input as the core takes them; a number's is weak."""
    if given.kind == "number":
        return [f"weak_{type(given.value).__name__}"]
    if given.kind == "none":
        return []
    return [each.dtype for each in (given.items or (given,))]

# SPDX-License-Identifier: Apache-2.0
"""A Python function on arrays as an operator. MindSpore copies what it returns without a look."""

from __future__ import annotations

import types

import numpy as np

from opwright import _errors
from opwright.mindspore import _abstract, _declared
from opwright.mindspore._dtypes import dtype_of


def checked(name: str, function, out_shape, out_dtype, zero_dim: dict[int, str]):
    """What is called, with its results compared with what out_shape and out_dtype say of them; as a
    function that MindSpore can read. zero_dim: the dtypes of the inputs that are 0-d tensors, which
    MindSpore hands over as Python numbers."""

    def call(*arrays):
        arrays = [
            np.asarray(array, zero_dim[i]) if i in zero_dim else array
            for i, array in enumerate(arrays)
        ]
        made = function(*arrays)
        results = made if isinstance(made, tuple) else (made,)
        given = [_abstract.as_infer(_given(array)) for array in arrays]
        shapes = _declared.settle(name, out_shape, given, "shape")
        dtypes = _declared.settle(name, out_dtype, given, "dtype")
        if isinstance(made, list) and len(shapes) > 1:
            raise _errors.make("CL020", f"{name}: the function returned a list, a tuple is due")
        if len(results) != len(shapes):
            raise _errors.make(
                "CL020",
                f"{name}: the function returned {len(results)} arrays, {len(shapes)} are due",
            )
        settled = tuple(map(_fit, [name] * len(shapes), results, shapes, dtypes))
        return settled if isinstance(made, tuple) else settled[0]

    if isinstance(function, types.FunctionType):
        call.__dict__.update(function.__dict__)  # custom_info_register writes there
        call.__dict__.pop("__wrapped__", None)
    call.__name__ = name
    return call


def _given(value) -> _abstract.Abstract:
    if isinstance(value, np.ndarray):
        return _abstract.Abstract("tensor", value.shape, value.dtype.name)
    return _abstract.of_value(value)


def _fit(name: str, result, shape, dtype):
    due = str(dtype.element_type()).lower()
    if isinstance(result, (int, float)):
        result = np.asarray(result)
    if not isinstance(result, (np.ndarray, np.generic)):
        raise _errors.make(
            "CL020", f"{name}: the function returned a {type(result).__name__}, an array is due"
        )
    if list(result.shape) != list(shape):
        raise _errors.make(
            "CL020",
            f"{name}: the function returned shape {list(result.shape)}, out_shape says {shape}",
        )
    if result.ndim == 0:
        result = _as_number(result, due)
    if dtype_of(result.dtype.name) != dtype.element_type():
        raise _errors.make(
            "CL020",
            f"{name}: the function returned {result.dtype.name}, out_dtype says {due}",
        )
    # MindSpore copies bytes, and reads no array of bfloat16.
    made = result.view(np.uint16) if result.dtype.name == "bfloat16" else result
    return np.asarray(made, made.dtype.newbyteorder("="), order="C")


def _as_number(result, due: str):
    """What numpy computes of numbers has a dtype of numpy's own choice: as the one that is due,
    where that holds it."""
    if result.dtype.kind in "biu" and np.dtype(due).kind in "biu":
        made = np.asarray(result).astype(due)
        return made if made == result else result
    return np.asarray(result, due) if np.can_cast(result.dtype, due, "same_kind") else result

# SPDX-License-Identifier: Apache-2.0
"""A Python function on arrays as an operator. MindSpore copies what it returns without a look."""

from __future__ import annotations

import functools

import numpy as np

from opwright import _errors
from opwright.mindspore import _declared
from opwright.mindspore._dtypes import dtype_of, tensor_type_of


def checked(name: str, function, out_shape, out_dtype):
    """The function with its results compared with what out_shape and out_dtype say of them."""
    if out_shape is None or out_dtype is None:
        return function

    @functools.wraps(function)
    def call(*arrays):
        made = function(*arrays)
        results = made if isinstance(made, tuple) else (made,)
        given = [
            {"shape": list(array.shape), "dtype": tensor_type_of(array.dtype.name)}
            for array in map(np.asarray, arrays)
        ]
        shapes = _declared.settle(name, out_shape, given, "shape")
        dtypes = _declared.settle(name, out_dtype, given, "dtype")
        if len(results) != len(shapes):
            raise _errors.make(
                "CL020",
                f"{name}: the function returned {len(results)} arrays, {len(shapes)} are due",
            )
        settled = tuple(map(_fit, [name] * len(shapes), results, shapes, dtypes))
        return settled if isinstance(made, tuple) else settled[0]

    return call


def _fit(name: str, result, shape, dtype):
    if not isinstance(result, (np.ndarray, np.generic)):
        raise _errors.make(
            "CL020", f"{name}: the function returned a {type(result).__name__}, an array is due"
        )
    if list(result.shape) != list(shape):
        raise _errors.make(
            "CL020",
            f"{name}: the function returned shape {list(result.shape)}, out_shape says {shape}",
        )
    if dtype_of(result.dtype.name) != dtype.element_type():
        raise _errors.make(
            "CL020",
            f"{name}: the function returned {result.dtype.name}, out_dtype says "
            f"{str(dtype.element_type()).lower()}",
        )
    return np.ascontiguousarray(result)

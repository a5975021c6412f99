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
    # MindSpore reads no array of bfloat16, and copies bytes.
    made = result.view(np.uint16) if result.dtype.name == "bfloat16" else result
    return np.asarray(made, order="C")

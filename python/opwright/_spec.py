# SPDX-License-Identifier: Apache-2.0
"""Shapes and dtypes without data, and arrays that stand for them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from opwright import _errors
from opwright._dtypes import name_of


class Spec(NamedTuple):
    """A shape and a dtype without data."""

    shape: tuple[int, ...]
    dtype: str


def stand_in(operator: str, spec):
    """A numpy array of the spec's shape and dtype that needs no memory."""
    if spec is None or isinstance(spec, (int, float, np.ndarray)):
        return spec
    if isinstance(spec, (list, tuple)) and not isinstance(spec, Spec):
        return [stand_in(operator, item) for item in spec]
    try:
        shape, name = tuple(spec.shape), name_of(spec.dtype)
    except AttributeError:
        raise _errors.make(
            "CL013",
            f"{operator}: infer takes things with shape and dtype, {type(spec).__name__} was given",
        ) from None
    if any(size < 0 for size in shape):
        raise _errors.make("CL004", f"{operator}: an input has the impossible shape {list(shape)}")
    return np.broadcast_to(np.empty((), _numpy_dtype(operator, name)), shape)


def _numpy_dtype(operator: str, name: str) -> np.dtype:
    if name == "bfloat16":
        try:
            import ml_dtypes
        except ImportError:
            raise _errors.make(
                "CL002", f"{operator}: numpy has no bfloat16; install the package ml_dtypes"
            ) from None
        return np.dtype(ml_dtypes.bfloat16)
    try:
        return np.dtype(name)
    except TypeError:
        raise _errors.make("CL002", f"{operator}: {name!r} is no dtype that numpy knows") from None

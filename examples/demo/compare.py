# SPDX-License-Identifier: Apache-2.0
"""The custom operator beside the native expression: values and gradients element by element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from train import Place

# The last dimension is that of bias and scale; where it is the only one, all shapes are equal.
SHAPES = ((8,), (3, 5), (32, 128), (4, 7, 33), (1, 1), (256, 1000), (0, 16))
INPUTS = ("x", "bias", "scale")


def native(x, bias, scale):
    return (x + bias) * scale


def exact(x, bias, scale, cotangent):
    """y and the three gradients."""
    rows = tuple(range(x.ndim - 1))
    y = (x + bias) * scale
    return (
        y,
        cotangent * scale,
        (cotangent * scale).sum(rows),
        (cotangent * (x + bias)).sum(rows),
    )


@dataclass
class Comparison:
    """The largest absolute errors of one tensor over all its elements, both against float64."""

    place: Place
    shape: tuple[int, ...]
    what: str  # "y", or the gradient of an input
    elements: int
    native_error: float
    custom_error: float
    allowed: float

    @property
    def right(self) -> bool:
        return self.custom_error <= self.allowed  # false for NaN


def compare(place: Place, function: Callable, shapes=SHAPES) -> list[Comparison]:
    """Random inputs and cotangents; numpy's float64 is right.

    Allowed is what rounding explains: a few float32 steps of the largest value, times the square
    root of the number of terms for the gradients that are sums over rows.
    """
    found = []
    for shape in shapes:
        drawn = np.random.default_rng(sum(shape) + len(shape))
        sizes = (shape, shape[-1:], shape[-1:], shape)
        *inputs, cotangent = [drawn.standard_normal(size, dtype=np.float32) for size in sizes]
        right = exact(*(value.astype(np.float64) for value in (*inputs, cotangent)))
        ours = place.values_and_gradients(function, inputs, cotangent)
        theirs = place.values_and_gradients(native, inputs, cotangent)
        rows = max(1, cotangent.size // shape[-1])
        names = ["y", *(f"gradient of {name}" for name in INPUTS)]
        for name, ideal, own, peer in zip(names, right, ours, theirs, strict=True):
            if own.shape != ideal.shape or own.dtype != np.float32:
                raise SystemExit(
                    f"{place}: {name} has shape {list(own.shape)} and dtype {own.dtype}"
                )
            terms = rows**0.5 if name in ("gradient of bias", "gradient of scale") else 1.0
            largest = np.abs(ideal).max(initial=1.0)
            found.append(
                Comparison(
                    place,
                    shape,
                    name,
                    ideal.size,
                    error(peer, ideal),
                    error(own, ideal),
                    4 * np.finfo(np.float32).eps * terms * largest,
                )
            )
    return found


def error(value, ideal) -> float:
    return float(np.abs(value - ideal).max(initial=0.0))

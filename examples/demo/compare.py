# SPDX-License-Identifier: Apache-2.0
"""The custom operator beside the native expression: gradients element by element, and times."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch

from opwright._timing import minimum

# The last dimension is that of bias and scale.
SHAPES = ((8,), (3, 5), (32, 128), (4, 7, 33), (1, 1), (256, 1000), (0, 16))
TIMED_SHAPES = ((8,), (32, 128), (256, 1024), (1024, 4096))
INPUTS = ("x", "bias", "scale")
CALLS = ("forward", "backward")


def native(x, bias, scale):
    return (x + bias) * scale


@dataclass
class Comparison:
    """The largest absolute errors of one tensor over all its elements, both against float64."""

    shape: tuple[int, ...]
    what: str  # "y", or the gradient of an input
    elements: int
    native_error: float
    custom_error: float
    allowed: float

    @property
    def right(self) -> bool:
        return self.custom_error <= self.allowed  # false for NaN


@dataclass
class Timing:
    """Minima of several repetitions, in microseconds for one call."""

    shape: tuple[int, ...]
    what: str  # "forward" or "backward"
    native: float
    custom: float


def values_and_gradients(function: Callable, inputs, cotangent):
    leaves = [value.detach().clone().requires_grad_() for value in inputs]
    y = function(*leaves)
    return [y.detach(), *torch.autograd.grad(y, leaves, cotangent)]


def compare(function: Callable, shapes=SHAPES) -> list[Comparison]:
    """Random inputs and cotangents; the native expression in float64 is right.

    Allowed is what rounding explains: a few float32 steps of the largest value, times the square
    root of the number of terms for the gradients that are sums over rows.
    """
    found = []
    for shape in shapes:
        made = torch.Generator().manual_seed(sum(shape) + len(shape))
        sizes = (shape, shape[-1:], shape[-1:], shape)
        exact = [torch.randn(size, generator=made, dtype=torch.float32) for size in sizes]
        *inputs, cotangent = exact
        right = values_and_gradients(
            native, [value.double() for value in inputs], cotangent.double()
        )
        ours = values_and_gradients(function, inputs, cotangent)
        theirs = values_and_gradients(native, inputs, cotangent)
        rows = max(1, cotangent.numel() // shape[-1])
        names = ["y", *(f"gradient of {name}" for name in INPUTS)]
        for name, ideal, own, peer in zip(names, right, ours, theirs, strict=True):
            if own.shape != ideal.shape or own.dtype != torch.float32:
                raise SystemExit(f"{name} has shape {list(own.shape)} and dtype {own.dtype}")
            terms = rows**0.5 if name in ("gradient of bias", "gradient of scale") else 1.0
            largest = ideal.abs().max().item() if ideal.numel() else 0.0
            allowed = 4 * torch.finfo(torch.float32).eps * terms * max(largest, 1.0)
            found.append(
                Comparison(
                    shape, name, ideal.numel(), error(peer, ideal), error(own, ideal), allowed
                )
            )
    return found


def error(value, ideal) -> float:
    return (value.double() - ideal).abs().max().item() if ideal.numel() else 0.0


def time_both(function: Callable, shapes=TIMED_SHAPES, repetitions: int = 15) -> list[Timing]:
    rows = []
    for shape in shapes:
        own = times(function, shape, repetitions)
        for what, peer, ours in zip(CALLS, times(native, shape, repetitions), own, strict=True):
            rows.append(Timing(shape, what, peer, ours))
    return rows


def times(function: Callable, shape, repetitions: int) -> tuple[float, float]:
    """Of the forward and of the backward call, in microseconds."""
    inputs = [torch.randn(size, requires_grad=True) for size in (shape, shape[-1:], shape[-1:])]
    cotangent = torch.randn(shape)
    with torch.no_grad():
        forward = minimum(lambda: function(*inputs), repetitions) * 1e6
    y = function(*inputs)

    def backward():
        return torch.autograd.grad(y, inputs, cotangent, retain_graph=True)

    return forward, minimum(backward, repetitions) * 1e6

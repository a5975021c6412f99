# SPDX-License-Identifier: Apache-2.0
"""Times of the custom operator and of the native expression in PyTorch."""

from __future__ import annotations

import timeit
from collections.abc import Callable
from dataclasses import dataclass

import torch
from compare import native

SHAPES = ((8,), (32, 128), (256, 1024), (1024, 4096))
CALLS = ("forward", "backward")


@dataclass
class Timing:
    """Minima of several repetitions, in microseconds for one call."""

    shape: tuple[int, ...]
    what: str  # "forward" or "backward"
    native: float
    custom: float


def time_both(function: Callable, repetitions: int) -> list[Timing]:
    rows = []
    for shape in SHAPES:
        own = times(function, shape, repetitions)
        for what, peer, ours in zip(CALLS, times(native, shape, repetitions), own, strict=True):
            rows.append(Timing(shape, what, peer, ours))
    return rows


def minimum(call: Callable, repetitions: int) -> float:
    """Seconds for one call: the least of measurements of about 2 ms."""
    calls = max(1, int(0.002 / max(timeit.timeit(call, number=1), 1e-7)))
    return min(timeit.repeat(call, repeat=repetitions, number=calls)) / calls


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

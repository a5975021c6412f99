# SPDX-License-Identifier: Apache-2.0
"""What the training of the digits network has in common in all frameworks: data, first weights,
batches, the loop over them. in_torch.py and in_mindspore.py have the network itself."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np
from sklearn.datasets import load_digits

SEED = 7
BATCH = 64
LEARNING_RATE = 0.05
MOMENTUM = 0.9
# Smooth activations: at a kink of ReLU the last bit of a sum decides, and two right runs part ways.
NETWORK = "64-128-64-10 with SiLU; a bias and a scale are learned after each hidden matrix"


@dataclass(frozen=True)
class Place:
    """A framework in one of its modes, and what is asked of it there. Arrays are numpy's."""

    framework: str
    mode: str
    # (function) -> (step, logits): a new network around function(x, bias, scale). step(x, y) makes
    # one step of the optimizer and returns the loss before it; logits(x) are the network's.
    network: Callable
    # (function, inputs, cotangent) -> [y, the gradient of each input], in the inputs' dtype.
    values_and_gradients: Callable

    def __str__(self) -> str:
        return f"{self.framework} {self.mode}"


@dataclass
class Run:
    """One training: what the page draws a curve of."""

    place: Place
    name: str
    # The run of the native expression in the same place, which this one is held against.
    native: Run | None = None
    losses: list[float] = field(default_factory=list)  # one an optimizer step
    steps_per_epoch: int = 0
    accuracy: float = 0.0
    seconds: float = 0.0

    def __str__(self) -> str:
        return f"{self.place}, {self.name}"

    def distances(self, other: Run) -> list[float]:
        """The difference of the losses of each step."""
        return [abs(a - b) for a, b in zip(self.losses, other.losses, strict=True)]


def digits():
    """(x, y) to train with, (x, y) to test with: 8 x 8 pixels in [0, 1], every fourth held out."""
    data = load_digits()
    x = (data.data / 16).astype(np.float32)
    y = data.target.astype(np.int32)
    held_out = np.arange(len(x)) % 4 == 0
    return (x[~held_out], y[~held_out]), (x[held_out], y[held_out])


def first_weights() -> list[np.ndarray]:
    """Of the three matrices, [outputs, inputs] each; the same at every call."""
    drawn = np.random.default_rng(SEED)
    sizes = ((128, 64), (64, 128), (10, 64))
    return [drawn.uniform(-1, 1, size).astype(np.float32) / size[1] ** 0.5 for size in sizes]


def epochs_of_batches(count: int, epochs: int) -> Iterator[list[np.ndarray]]:
    """Indices of the examples of each batch, epoch by epoch; the same at every call."""
    order = np.random.default_rng(SEED)
    for _ in range(epochs):
        yield np.split(order.permutation(count), range(BATCH, count, BATCH))


def train(place: Place, name: str, function: Callable, epochs: int, native=None) -> Run:
    """Calls differ in nothing but place and function: same weights, same batches in one order."""
    (x, y), (x_test, y_test) = digits()
    run = Run(place, name, native, steps_per_epoch=-(-len(x) // BATCH))
    step, logits = place.network(function)
    started = time.perf_counter()
    for epoch, batches in enumerate(epochs_of_batches(len(x), epochs), 1):
        run.losses += [step(x[batch], y[batch]) for batch in batches]
        words = f"epoch {epoch}/{epochs}, loss {run.losses[-1]:.4f}"
        print(f"\r    {run}: {words}", end="", flush=True)
    run.seconds = time.perf_counter() - started
    run.accuracy = float((logits(x_test).argmax(1) == y_test).mean())
    print(f"\r    {run}: {epochs} epochs in {run.seconds:.1f} s, test accuracy {run.accuracy:.4f}")
    return run

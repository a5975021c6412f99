# SPDX-License-Identifier: Apache-2.0
"""Trains one small network on handwritten digits, with the bias-and-scale layer of the caller."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import torch
from sklearn.datasets import load_digits
from torch import nn

SEED = 7
BATCH = 64
LEARNING_RATE = 0.05
# Smooth activations: at a kink of ReLU the last bit of a sum decides, and two right runs part ways.
NETWORK = "64-128-64-10 with SiLU; a bias and a scale are learned after each hidden matrix"


@dataclass
class Run:
    """One training: what the page draws a curve of, whichever framework it ran in."""

    name: str
    framework: str
    losses: list[float] = field(default_factory=list)  # one an optimizer step
    steps_per_epoch: int = 0
    accuracy: float = 0.0
    seconds: float = 0.0


class BiasScale(nn.Module):
    """function(x, bias, scale), with a trained bias and scale of shape [n]."""

    def __init__(self, function: Callable, n: int):
        super().__init__()
        self.function = function
        self.bias = nn.Parameter(torch.zeros(n))
        self.scale = nn.Parameter(torch.ones(n))

    def forward(self, x):
        return self.function(x, self.bias, self.scale)


def network(function: Callable) -> nn.Module:
    return nn.Sequential(
        nn.Linear(64, 128, bias=False),
        BiasScale(function, 128),
        nn.SiLU(),
        nn.Linear(128, 64, bias=False),
        BiasScale(function, 64),
        nn.SiLU(),
        nn.Linear(64, 10),
    )


def digits():
    """(x, y) to train with, (x, y) to test with: 8 x 8 pixels in [0, 1], every fourth held out."""
    data = load_digits()
    x = torch.tensor(data.data, dtype=torch.float32) / 16
    y = torch.tensor(data.target)
    held_out = torch.arange(len(x)) % 4 == 0
    return (x[~held_out], y[~held_out]), (x[held_out], y[held_out])


def train(name: str, function: Callable, epochs: int) -> Run:
    """Two calls differ in nothing but the function: same weights, same batches in one order."""
    torch.manual_seed(SEED)
    model = network(function)
    (x, y), (x_test, y_test) = digits()
    order = torch.Generator().manual_seed(SEED)
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, momentum=0.9)
    run = Run(name, "PyTorch", steps_per_epoch=-(-len(x) // BATCH))
    started = time.perf_counter()
    for epoch in range(epochs):
        for batch in torch.randperm(len(x), generator=order).split(BATCH):
            loss = nn.functional.cross_entropy(model(x[batch]), y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            run.losses.append(loss.item())
        print(
            f"\r    {name}: epoch {epoch + 1}/{epochs}, loss {run.losses[-1]:.4f}",
            end="",
            flush=True,
        )
    run.seconds = time.perf_counter() - started
    with torch.no_grad():
        run.accuracy = (model(x_test).argmax(1) == y_test).float().mean().item()
    print(f"\r    {name}: {epochs} epochs in {run.seconds:.1f} s, test accuracy {run.accuracy:.4f}")
    return run

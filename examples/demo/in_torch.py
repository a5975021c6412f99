# SPDX-License-Identifier: Apache-2.0
"""The digits network, and values and gradients, in PyTorch."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn
from train import LEARNING_RATE, MOMENTUM, Place, first_weights


class BiasScale(nn.Module):
    """function(x, bias, scale), with a trained bias and scale of shape [n]."""

    def __init__(self, function: Callable, n: int):
        super().__init__()
        self.function = function
        self.bias = nn.Parameter(torch.zeros(n))
        self.scale = nn.Parameter(torch.ones(n))

    def forward(self, x):
        return self.function(x, self.bias, self.scale)


def linear(weight, bias: bool = False) -> nn.Linear:
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias=bias)
    layer.weight = nn.Parameter(torch.from_numpy(weight))
    if bias:
        nn.init.zeros_(layer.bias)
    return layer


def network(function: Callable):
    first, second, last = first_weights()
    model = nn.Sequential(
        linear(first),
        BiasScale(function, len(first)),
        nn.SiLU(),
        linear(second),
        BiasScale(function, len(second)),
        nn.SiLU(),
        linear(last, bias=True),
    )
    optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, momentum=MOMENTUM)

    def step(x, y) -> float:
        loss = nn.functional.cross_entropy(model(torch.from_numpy(x)), torch.from_numpy(y).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.item()

    def logits(x):
        with torch.no_grad():
            return model(torch.from_numpy(x)).numpy()

    return step, logits


def values_and_gradients(function: Callable, inputs, cotangent):
    leaves = [torch.tensor(value, requires_grad=True) for value in inputs]
    y = function(*leaves)
    gradients = torch.autograd.grad(y, leaves, torch.from_numpy(cotangent))
    return [value.numpy() for value in (y.detach(), *gradients)]


PLACES = [Place("PyTorch", "eager", network, values_and_gradients)]

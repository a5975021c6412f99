# SPDX-License-Identifier: Apache-2.0
"""The digits network, and values and gradients, in MindSpore: PyNative and graph mode."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from train import LEARNING_RATE, MOMENTUM, Place, first_weights

# Each step waits for its loss. Without this, MindSpore's threads wait for each other by spinning,
# which takes several times as long on two cores.
ms.runtime.launch_blocking()


class BiasScale(nn.Cell):
    """function(x, bias, scale), with a trained bias and scale of shape [n]."""

    def __init__(self, function: Callable, n: int):
        super().__init__()
        self.function = function
        self.bias = Parameter(ops.zeros(n))
        self.scale = Parameter(ops.ones(n))

    def construct(self, x):
        return self.function(x, self.bias, self.scale)


def dense(weight, has_bias: bool = False) -> nn.Dense:
    outputs, inputs = weight.shape
    return nn.Dense(inputs, outputs, Tensor(weight), "zeros", has_bias)


def network(mode: int, function: Callable):
    ms.set_context(mode=mode)
    first, second, last = first_weights()
    model = nn.SequentialCell(
        dense(first),
        BiasScale(function, len(first)),
        nn.SiLU(),
        dense(second),
        BiasScale(function, len(second)),
        nn.SiLU(),
        dense(last, has_bias=True),
    )
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.SGD(model.trainable_params(), LEARNING_RATE, MOMENTUM)
    training = nn.TrainOneStepCell(nn.WithLossCell(model, loss), optimizer)

    def step(x, y) -> float:
        return training(Tensor(x), Tensor(y)).asnumpy().item()

    def logits(x):
        return model(Tensor(x)).asnumpy()

    return step, logits


class Expression(nn.Cell):
    def __init__(self, function: Callable):
        super().__init__()
        self.function = function

    def construct(self, x, bias, scale):
        return self.function(x, bias, scale)


class WithGradients(nn.Cell):
    """Value and gradients of a cell; in graph mode one compiled graph."""

    def __init__(self, cell: nn.Cell):
        super().__init__()
        self.cell = cell
        self.gradients = ops.GradOperation(get_all=True, sens_param=True)

    def construct(self, x, bias, scale, cotangent):
        y = self.cell(x, bias, scale)
        return y, *self.gradients(self.cell)(x, bias, scale, cotangent)


def values_and_gradients(mode: int, function: Callable, inputs, cotangent):
    ms.set_context(mode=mode)
    cell = WithGradients(Expression(function))
    return [value.asnumpy() for value in cell(*map(Tensor, (*inputs, cotangent)))]


PLACES = [
    Place("MindSpore", name, partial(network, mode), partial(values_and_gradients, mode))
    for name, mode in (("PyNative", ms.PYNATIVE_MODE), ("graph", ms.GRAPH_MODE))
]

# SPDX-License-Identifier: Apache-2.0
"""A Cell with a bprop of its own that calls an operator in construct and in bprop."""

import mindspore as ms
import pytest
from calls import draw, wide
from mindspore import nn
from modes import FORWARD, MODES, close, forward, gradient, mode_of

from opwright.mindspore import Custom


class Held(nn.Cell):
    """y = x^2, with the gradient dout * x^2."""

    def __init__(self, library):
        super().__init__()
        self.op = library.square

    def construct(self, x):
        return self.op(x)

    def bprop(self, x, out, dout):
        return (dout * self.op(x),)


class HeldCustom(Held):
    def __init__(self, library):
        super().__init__(library)
        self.op = Custom(library.square)


class Computing(Held):
    """The same with more around the calls, one in the other."""

    def construct(self, x):
        return self.op(x) * 2 - self.op(x)

    def bprop(self, x, out, dout):
        return (self.op(x) * self.op(self.op(dout)) / (dout * dout * dout),)


class Named(nn.Cell):
    """The same by names and attributes."""

    def __init__(self, library):
        super().__init__()
        self.power = library.power

    def construct(self, x):
        return self.power(x=x, exponent=2)

    def bprop(self, x, out, dout):
        return (dout * self.power(x, exponent=2, scale=1.0),)


class Around(nn.Cell):
    """One of them in another, among calls of its operator."""

    def __init__(self, library):
        super().__init__()
        self.inner = Held(library)
        self.op = library.square

    def construct(self, x):
        return self.op(self.inner(x)) - self.op(self.op(x)) + self.inner(x)


CELLS = (Held, HeldCustom, Computing, Named, Around)


@pytest.fixture
def library(libraries):
    return libraries("elementwise")


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", CELLS, ids=lambda kind: kind.__name__)
def test_the_gradient_is_the_cells(library, kind, mode):
    x = draw(2, 3)
    cell = kind(library)

    def loss(x):
        return (cell(x) * 3).sum()

    due = 3 * wide(x) ** 2
    if kind is Around:  # of x^4 by the inner bprop, less 4 x^3
        due = 3 * (2 * wide(x) ** 4 - 4 * wide(x) ** 3 + wide(x) ** 2)
    close(gradient(loss, (x,), None, mode), due)


@pytest.mark.parametrize("mode", FORWARD)
@pytest.mark.parametrize("kind", CELLS, ids=lambda kind: kind.__name__)
def test_the_value_is_the_cells(library, kind, mode):
    x = draw(2, 3)
    close(forward(kind(library), (x,), mode), wide(x) ** 2)


@pytest.mark.parametrize("mode", MODES)
def test_an_operator_of_the_module(library, mode):
    square = library.square

    class Global(nn.Cell):
        def construct(self, x):
            return square(x)

        def bprop(self, x, out, dout):
            return (dout * square(x),)

    cell = Global()

    def loss(x):
        return cell(x).sum()

    x = draw(2, 3)
    close(gradient(loss, (x,), None, mode), wide(x) ** 2)


@pytest.mark.parametrize("mode", ["jit", "graph"])
def test_the_cell_itself_is_differentiated(library, mode):
    x = draw(2, 3)
    with mode_of(mode):
        cell = Held(library)
        close(ms.grad(ms.jit(cell) if mode == "jit" else cell)(x), wide(x) ** 2)

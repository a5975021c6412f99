# SPDX-License-Identifier: Apache-2.0
"""A Cell as a rule: its construct is looked at as a function is, whatever it is held by."""

import functools

import numpy as np
import pytest
from mindspore import nn

import opwright
from opwright.mindspore import Custom


def like_x(x, y):
    return x


class Short(nn.Cell):
    def construct(self, x, out, dout):
        return dout, dout


class Long(nn.Cell):
    def construct(self, x, y, z, out, dout):
        return dout, dout


class OtherOrder(nn.Cell):
    def construct(self, x, y, dout, out):
        return dout * y, dout * x


class Empty(nn.Cell):
    pass


CELLS = {
    "short": (Short(), r"the bprop construct\(x, out, dout\) cannot be called with \(x, y, out"),
    "long": (Long(), r"missing a required argument: 'dout'; write def bprop\(x, y, out, dout"),
    "partial": (
        functools.partial(Short()),
        r"the bprop construct\(x, out, dout\) cannot be called",
    ),
    "order": (OtherOrder(), r"calls its parameter 3 dout, and it is given out there"),
    "order of a partial": (functools.partial(OtherOrder()), "calls its parameter 3 dout"),
    "empty": (Empty(), "the bprop, a Cell Empty, has no construct"),
}


@pytest.mark.parametrize("rule, words", CELLS.values(), ids=CELLS)
def test_a_cells_parameters_are_looked_at_like_a_functions(built, rule, words):
    with pytest.raises(opwright.GradientError, match=words) as caught:
        Custom(built("product") + ":product", func_type="aot", bprop=rule)
    assert caught.value.code == "GR007"


def test_a_python_functions_cell_too():
    with pytest.raises(opwright.GradientError, match="calls its parameter 3 dout"):
        Custom(np.multiply, like_x, like_x, "pyfunc", OtherOrder())
    with pytest.raises(opwright.GradientError, match="the bprop, a Cell Empty, has no construct"):
        Custom(np.multiply, like_x, like_x, "pyfunc", Empty())

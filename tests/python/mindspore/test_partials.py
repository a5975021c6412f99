# SPDX-License-Identifier: Apache-2.0
"""Operators in a functools.partial of the user's."""

import functools

import numpy as np
import pytest
from calls import draw, wide
from mindspore import ops
from modes import MODES, close, forward, gradient

from opwright.mindspore import Custom


def first_of(x, *rest):
    return x


def rule(x, y, out, dout):
    return dout * y, dout * x


X, Y = draw(4), draw(4)


@pytest.fixture(params=["MindSpore's own", "Custom", "operator"])
def product(request, libraries):
    if request.param == "Custom":
        return Custom(np.multiply, first_of, first_of, "pyfunc", rule)
    if request.param == "operator":
        libraries("product").product.bprop(rule)
        return libraries("product").product
    return ops.mul


@pytest.mark.parametrize("mode", MODES)
def test_a_partial_made_inside_of_the_function(product, mode):
    def inside(x):
        return functools.partial(product, Y)(x)

    close(forward(inside, (X,), mode), wide(X) * wide(Y))
    close(gradient(inside, (X,), None, mode), wide(Y))


@pytest.mark.parametrize("mode", MODES)
def test_a_partial_made_outside_has_values_and_in_compiled_modes_no_gradient(product, mode):
    """MindSpore's: tools/mistakes_table.py describes it. Right would be Y in every mode."""
    made = functools.partial(product, Y)

    def outside(x):
        return made(x)

    close(forward(outside, (X,), mode), wide(X) * wide(Y))
    due = wide(Y) if mode == "pynative" else np.zeros(4)
    close(gradient(outside, (X,), None, mode), due)

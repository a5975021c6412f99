# SPDX-License-Identifier: Apache-2.0
"""What comes after an exception in a gradient of PyNative mode."""

import mindspore as ms
import numpy as np
import pytest
from calls import draw
from mindspore import nn, ops

from opwright.mindspore import Custom

X = draw(4)


def fails(x):
    raise ValueError("mine")


def fails_inside(x):
    return ms.grad(fails)(x) * x


class Fails(nn.Cell):
    def construct(self, x):
        raise ValueError("mine")


@pytest.mark.parametrize("failing", [fails, fails_inside, Fails()], ids=["plain", "nested", "cell"])
def test_a_compiled_function_is_differentiated_after_an_exception(libraries, failing):
    op = Custom(libraries("product").product)

    def loss(x):
        return (ops.stop_gradient(op(x, x)) * x).sum()

    due = ms.grad(ms.jit(loss))(X).asnumpy()
    with pytest.raises(ValueError, match="mine"):
        ms.grad(failing)(X)
    np.testing.assert_array_equal(ms.grad(ms.jit(loss))(X).asnumpy(), due)

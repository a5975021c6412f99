# SPDX-License-Identifier: Apache-2.0
"""Python functions as operators: what they return is what was declared, or an error in words."""

import mindspore as ms
import numpy as np
import pytest
from calls import draw, wide
from mindspore import Tensor
from modes import FORWARD, close, forward

from opwright.mindspore import Custom


def first(x):
    return x


def reversed_view(x):
    return x[::-1]


def short(x):
    return x[:1]


def ints(x):
    return x.astype(np.int32)


def nothing(x):
    return None


def column(x):
    return x.reshape(3, 1)


@pytest.mark.parametrize("mode", FORWARD)
def test_a_view_is_read_by_its_strides(mode):
    x = draw(3)
    close(forward(Custom(reversed_view, first, first), (x,), mode), wide(x)[::-1])


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (short, r"returned shape \[1\], out_shape says \[3\]"),
        (column, r"returned shape \[3, 1\], out_shape says \[3\]"),
        (ints, "returned int32, out_dtype says float64"),
        (nothing, "returned a NoneType, an array is due"),
    ],
)
@pytest.mark.parametrize("mode", FORWARD)
def test_another_result_than_was_declared_is_refused(function, words, mode):
    with pytest.raises(RuntimeError, match=words):
        forward(Custom(function, first, first), (draw(3),), mode).asnumpy()


def test_results_of_several_outputs_are_counted():
    def two(x):
        return x, x

    op = Custom(two, ([3], [3], [3]), (ms.float32, ms.float32, ms.float32))
    with pytest.raises(RuntimeError, match="returned 2 arrays, 3 are due"):
        op(Tensor(np.ones(3, np.float32)))[0].asnumpy()

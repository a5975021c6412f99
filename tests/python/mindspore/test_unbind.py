# SPDX-License-Identifier: Apache-2.0
"""A rule that is taken off again: the compiled backward operator counts, in every mode."""

import mindspore as ms
import numpy as np
import pytest
from calls import draw, wide
from modes import MODES, close, gradient
from operator_libraries import write_operator
from operators import GROUPS

import opwright

X = draw(2, 3)


@pytest.fixture
def square(tmp_path):
    """An operator whose rule no other test binds."""
    metadef, source = GROUPS["elementwise"]
    folder = write_operator(tmp_path / "op", metadef, f"{source}\n// {tmp_path}\n")
    return opwright.load(opwright.build(folder, tmp_path / "libsquare.so")).square


def seven(x, out, dout):
    return (dout * 7,)


@pytest.mark.parametrize("mode", MODES)
def test_a_rule_is_taken_off_again(square, mode):
    custom = opwright.mindspore.Custom(square)

    def loss(x):
        return square(x).sum()

    def by_custom(x):
        return custom(x).sum()

    calls = [loss, by_custom, ms.jit(loss)]
    exact, sevens = 2 * wide(X), np.full((2, 3), 7.0)
    for call in calls:
        close(gradient(call, (X,), mode=mode), [exact])
    square.bprop(seven)
    for call in calls:
        close(gradient(call, (X,), mode=mode), [sevens])
    square.bprop(None)
    for call in calls:
        close(gradient(call, (X,), mode=mode), [exact])

# SPDX-License-Identifier: Apache-2.0
"""Gradients of operators that take a list: MindSpore differentiates by the tensors in it."""

import pytest
from calls import draw, wide
from modes import MODES, close, gradient

import opwright
from opwright.mindspore import Custom

X, Y = draw(4), draw(4)


def without_bias(op, x, y):
    return (op([x, y], None) * x).sum()


def with_bias(op, x, y):
    return (op([x, y], y) * x).sum()


def of_one(op, x, y):
    return (op([x], None) * x * y).sum()


def of_a_tuple(op, x, y):
    return (op((y, x, y), None) * x).sum()


# sum_all: x0 + 2 x1 + 3 x2 ... + 3 bias
x, y = wide(X), wide(Y)
DUE = {
    without_bias: (2 * x + 2 * y, 2 * x),
    with_bias: (2 * x + 5 * y, 5 * x),
    of_one: (2 * x * y, x * x),
    of_a_tuple: (4 * x + 4 * y, 4 * x),
}


def rule(xs, bias, out, dout):
    return tuple([(k + 1) * dout for k in range(len(xs))]), None if bias is None else 3 * dout


def as_a_list(xs, bias, out, dout):
    return [(k + 1) * dout for k in range(len(xs))], None if bias is None else 3 * dout


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("call", DUE, ids=lambda call: call.__name__)
@pytest.mark.parametrize("bprop", [None, rule, as_a_list])
def test_the_tensors_of_a_list_have_gradients(libraries, call, bprop, mode):
    op = Custom(libraries("inputs").sum_all, bprop=bprop)

    def loss(x, y):
        return call(op, x, y)

    close(gradient(loss, (X, Y), None, mode), DUE[call])


@pytest.mark.parametrize("mode", MODES)
def test_the_backward_operator_needs_the_shapes_of_the_list_only(libraries, mode):
    op = Custom(libraries("inputs").add_weighted)

    def loss(x, y):
        return (op([x, y]) * x).sum()

    close(gradient(loss, (X, Y), None, mode), (2 * x + 2 * y, 2 * x))


def short(xs, bias, out, dout):
    return (dout,), None


def bare(xs, bias, out, dout):
    return dout, None


def summed(xs, bias, out, dout):
    return (dout, dout.sum()), None


WRONG = {
    short: r"list xs is \[float64\[4\]\], \[float64\[4\], float64\[4\]\] is due",
    bare: r"list xs is float64\[4\], \[",
    summed: r"list xs is \[float64\[4\], float64\[\]\], \[",
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bprop", WRONG, ids=lambda bprop: bprop.__name__)
def test_what_is_no_gradient_of_the_list_is_refused(libraries, bprop, mode):
    op = Custom(libraries("inputs").sum_all, bprop=bprop)

    def loss(x, y):
        return op([x, y], None).sum()

    with pytest.raises(opwright.GradientError, match=WRONG[bprop]) as caught:
        gradient(loss, (X, Y), None, mode)
    assert caught.value.code == "GR005"

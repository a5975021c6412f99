# SPDX-License-Identifier: Apache-2.0
"""Gradients are in distinct memory in every mode, and cost no copy where they are plainly apart."""

import functools
import itertools
import re

import mindspore as ms
import numpy as np
import pytest
from calls import draw
from mindspore import Tensor, mint, ops
from modes import MODES, distinct, gradient

from opwright.mindspore import Custom
from opwright.mindspore._readable import readable
from opwright.mindspore._shared import forms_of

ONES = Tensor(np.ones((2, 3)))
TWOS = Tensor(np.full((2, 3), 2.0))


def helper(a, b):
    return a * b


def one_twice(x, y, out, dout):
    return dout, dout


def a_name_twice(x, y, out, dout):
    grad = dout * y
    return grad, grad


def one_value_twice(x, y, out, dout):
    return dout * y, dout * y


def by_two_names(x, y, out, dout):
    one, other = dout * y, dout * y
    third = other
    return one, third


def a_view(x, y, out, dout):
    grad = dout * y
    return grad, grad.reshape(-1).reshape(grad.shape)


def a_cast(x, y, out, dout):
    grad = dout * y
    return grad, ops.cast(grad, y.dtype)


def a_method(x, y, out, dout):
    grad = dout * y
    return grad, grad.astype(grad.dtype).reshape(x.shape)


def by_a_helper(x, y, out, dout):
    return dout * y, helper(dout, y)


def by_a_function(x, y, out, dout):
    return dout * y, ops.mul(dout, y)


def by_mint(x, y, out, dout):
    return mint.mul(dout, y), dout.mul(y)


def times_one(x, y, out, dout):
    return dout, dout * 1


def plus_nothing(x, y, out, dout):
    return dout * y + 0.0, dout * y


def commuted(x, y, out, dout):
    return dout * y, y * dout


def regrouped(x, y, out, dout):
    return dout * y * x, dout * (y * x)


def divided(x, y, out, dout):
    return dout / y, dout / (y * dout)


def without_dout(x, y, out, dout):
    return (x + y) * dout, x + y


def times_ones(x, y, out, dout):
    return dout * y * ONES, dout * y


def times_ones_like(x, y, out, dout):
    return dout * ops.ones_like(x), dout * ops.ones_like(y)


def a_conditional(x, y, out, dout):
    return dout * y, dout * y if x.ndim == 2 else dout * x


def branches(x, y, out, dout):
    grad = dout * x
    if x.ndim == 2:
        grad = dout * y
    return dout * y, grad


def again(x, y, out, dout):
    grad = dout * x
    grad = grad * y / x
    other = dout * x * y / x
    return grad, other


def a_power(x, y, out, dout):
    return dout * x**2, dout * ops.square(x)


def a_part(x, y, out, dout):
    grad = dout * y
    return grad, ops.broadcast_to(grad[0:1], y.shape)


def a_broadcast(x, y, out, dout):
    grad = (dout * y).sum(0, keepdims=True)
    return ops.broadcast_to(grad, x.shape), grad.expand_as(y)


def an_input_in_shape(x, y, out, dout):
    return ops.reshape(x, ops.shape(dout)), x.reshape(dout.shape)


def starred(x, y, out, dout):
    grad = dout * y
    return (*(grad,), grad)


class Rule:
    def rule(self, x, y, out, dout):
        return dout * y, self.mul(dout, y)

    def mul(self, a, b):
        return a * b


in_a_lambda = lambda x, y, out, dout: (dout * y, y * dout)  # noqa: E731


def scaled(scale, x, y, out, dout):
    return dout * y * scale, dout * y


MAY_BE_ONE = [
    one_twice,
    a_name_twice,
    one_value_twice,
    by_two_names,
    a_view,
    a_cast,
    a_method,
    by_a_helper,
    by_a_function,
    by_mint,
    times_one,
    plus_nothing,
    commuted,
    regrouped,
    divided,
    without_dout,
    times_ones,
    times_ones_like,
    a_conditional,
    branches,
    again,
    a_power,
    a_part,
    a_broadcast,
    an_input_in_shape,
    starred,
    Rule().rule,
    in_a_lambda,
]
PARTIAL = functools.partial(scaled, 1.0)


def product(x, y, out, dout):
    return dout * y, dout * x


def named(x, y, out, dout):
    """Names, tuples of them, functions and methods."""
    a, b = ops.exp(x), mint.sin(y)
    grad: ms.Tensor = dout
    del_y = grad * b
    return ops.mul(dout, a), del_y


def beside_dout(x, y, out, dout):
    return dout, dout * x


def quotient(x, y, out, dout):
    return dout / y, -dout * x / (y * y)


def matrices(x, y, out, dout):
    return ops.matmul(dout, y.T @ y), dout @ x.T @ x


def of_numbers(x, y, out, dout):
    scale = 1 / x.shape[0]
    return dout * x.tanh() * scale, 2.0 * dout * y.exp()


APART = [
    product,
    named,
    beside_dout,
    quotient,
    matrices,
    of_numbers,
    lambda x, y, out, dout: (dout * y, dout * ops.exp(x)),
]


def summed(made):
    return made.sum()  # dout is a constant of ones


def weighed(made):
    return ops.exp(made).sum()


def for_nothing(made):
    return (made * 0).sum()  # dout is a constant of zeros


def name_of(value):
    return getattr(value, "__name__", type(value).__name__)


@pytest.mark.parametrize("loss", [summed, weighed, for_nothing], ids=name_of)
@pytest.mark.parametrize("rule", [*MAY_BE_ONE, PARTIAL, *APART], ids=name_of)
def test_gradients_are_in_distinct_memory(built, rule, loss):
    op = Custom(built("product") + ":product", func_type="aot", bprop=rule)

    def of_both(x, y):
        return loss(op(x, y))

    for mode in MODES:
        assert distinct(*gradient(of_both, (draw(2, 3), draw(2, 3)), None, mode)), mode


@pytest.mark.parametrize("constant", [ONES, 1.0], ids=["tensor", "number"])
@pytest.mark.parametrize("mode", MODES[1:])
def test_constants_may_make_one_of_two(libraries, constant, mode):
    def rule(x, b, s, out, dout):
        return dout * s * b, dout * b, x * dout

    op = Custom(libraries("fused_broadcast").fused_broadcast, bprop=rule)

    def loss(x, b):
        return ops.exp(op(x, b, constant)).sum()

    assert distinct(*gradient(loss, (draw(2, 3), draw(2, 3)), None, mode))


def may_be_one(rule) -> bool:
    forms = forms_of(readable("product", rule), 2)
    return any(a is None or b is None or a == b for a, b in itertools.combinations(forms, 2))


def test_what_may_be_one_node_is_told_from_what_may_not():
    assert [name_of(rule) for rule in MAY_BE_ONE if not may_be_one(rule)] == []
    assert [name_of(rule) for rule in APART if may_be_one(rule)] == []


@pytest.mark.parametrize(("rule", "kernels"), [(product, 0), (beside_dout, 0), (commuted, 1)])
def test_a_compiled_graph_copies_only_what_may_be_one_node(built, rule, kernels, tmp_path):
    op = Custom(built("product") + ":product", func_type="aot", bprop=rule)

    def loss(x, y):
        return weighed(op(x, y))

    ms.set_context(save_graphs=1, save_graphs_path=str(tmp_path))
    try:
        gradient(loss, (draw(2, 3), draw(2, 3)), None, "jit-grad")
    finally:
        ms.set_context(save_graphs=0)
    (graph,) = tmp_path.glob("*_validate_*.ir")
    calls = re.findall(r" = \w*Custom.*opwright_(?:call|reduce)", graph.read_text())
    assert [call.endswith("reduce") for call in calls].count(True) == kernels, calls
    assert len(calls) == kernels + 1


def test_other_constants_are_no_difference():
    """Their values are not read."""

    def rule(x, y, out, dout):
        return dout * y * ONES, dout * y * TWOS

    assert may_be_one(rule)

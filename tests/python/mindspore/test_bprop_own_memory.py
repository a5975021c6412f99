# SPDX-License-Identifier: Apache-2.0
"""Gradients are in no memory of an input; those of a list are each in its own."""

import functools
import itertools

import mindspore as ms
import numpy as np
import pytest
from calls import draw
from mindspore import Tensor, ops
from modes import MODES, array, bits, close, distinct, gradient

from opwright.mindspore import Custom
from opwright.mindspore._shared import forms_of
from opwright.mindspore._verdict import COPY, KEEP, Verdict


def weighed(made):
    return ops.exp(made).sum()


def inputs(x, y, out, dout):
    return y, x


def views_of_inputs(x, y, out, dout):
    return y.reshape(-1).reshape(x.shape), x.T.T


def by_a_conditional(x, y, out, dout):
    return dout * x if x.ndim == 7 else x, dout * x


def by_an_object(*arguments):
    return inputs(*arguments)


def an_input_in_shape(x, y, out, dout):
    return ops.reshape(x, ops.shape(dout)), x.reshape(dout.shape)


OF_INPUTS = [inputs, views_of_inputs, by_a_conditional, an_input_in_shape]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    "rule",
    [*OF_INPUTS, functools.partial(by_an_object)],
    ids=lambda rule: getattr(rule, "__name__", "partial"),
)
def test_a_gradient_is_not_in_the_memory_of_an_input(built, rule, mode):
    op = Custom(built("product") + ":product", func_type="aot", bprop=rule)
    x, y = draw(2, 3), draw(2, 3)

    def loss(x, y):
        return op(x, y).sum()

    for made in gradient(loss, (x, y), None, mode):
        assert distinct(made, x)
        assert distinct(made, y)


def one_in_a_list(xs, bias, out, dout):
    return [dout, dout], None


def one_value_in_a_list(xs, bias, out, dout):
    return [dout * 1, dout * 1], None


def in_a_comprehension(xs, bias, out, dout):
    return tuple([dout * 2 for _ in xs]), None


def in_the_list_and_beside_it(xs, bias, out, dout):
    grad = dout * 2
    return [grad, dout], grad


LISTS = [one_in_a_list, one_value_in_a_list, in_a_comprehension]


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("loss", [ops.reduce_sum, weighed], ids=["summed", "weighed"])
@pytest.mark.parametrize(
    "rule",
    [*LISTS, in_the_list_and_beside_it],
    ids=lambda rule: getattr(rule, "__name__", "partial"),
)
def test_gradients_of_a_list_are_in_distinct_memory(libraries, rule, loss, mode):
    op = Custom(libraries("inputs").sum_all, bprop=rule)

    def of_a_list(x, y):
        return loss(op([x, y], None))

    def of_all(x, y, bias):
        return loss(op([x, y], bias))

    several = rule is in_the_list_and_beside_it
    given = tuple(draw(4) for _ in range(3 if several else 2))
    made = gradient(of_all if several else of_a_list, given, None, mode)
    due = [2, 1, 2] if several else [2 if rule is in_a_comprehension else 1] * 2
    scale = (
        1 if loss is ops.reduce_sum else ops.exp(op(list(given[:2]), given[2] if several else None))
    )
    close(made, [k * np.ones(4) * array(scale) for k in due])
    for one, other in itertools.permutations(made, 2):
        assert distinct(one, other)


def twice(x, y, out, dout):
    return dout, dout


def plain(x, y, out, dout):
    return dout * y, dout * x


@pytest.mark.parametrize("dtype", [ms.float16, ms.float32, ms.float64], ids=str)
def test_a_copy_in_pynative_mode_is_exact(built, dtype):
    op = Custom(built("product") + ":product", func_type="aot", bprop=twice)
    values = np.array([-0.0, np.inf, 6e-8, 1e-3, 65504.0])
    weights = Tensor(values, dtype)

    def loss(x, y):
        return (op(x, y) * weights).sum()

    one, other = gradient(loss, (draw(5, dtype=dtype), draw(5, dtype=dtype)))
    assert bits(one) == bits(other) == bits(weights)
    assert distinct(one, other)


@pytest.mark.parametrize(("rule", "actions"), [(plain, (KEEP, KEEP)), (twice, (KEEP, COPY))])
def test_pynative_mode_copies_no_gradient_that_is_plainly_its_own(rule, actions):
    x, y = draw(2, 3), draw(2, 3)
    verdict = Verdict("product", ("x", "y"), (None, None), forms_of(rule, 2))
    assert verdict(rule(x, y, x * y, y), x, y, x * y) == actions

# SPDX-License-Identifier: Apache-2.0
"""Statements of a rule that PyNative mode runs and compiled modes do not: refused at once where
that is sure, with what to write; what every mode compiles is not."""

import functools

import pytest
from calls import check_product, check_refused
from mindspore import ops

from opwright.mindspore import Custom


def after_loop(x, y, out, dout):
    for each in (y, x):  # noqa: B007
        pass
    return dout * y, dout * each


def after_a_count(x, y, out, dout):
    for i, each in enumerate((y, x)):  # noqa: B007
        pass
    return dout * y, dout * x * i


def bound_in_a_for(x, y, out, dout):
    for i, each in enumerate((y, x)):
        if i == 0:
            first = dout * each
        else:
            second = dout * each
    return first, second


def bound_in_a_while(x, y, out, dout):
    times = 0
    while times < 1:
        grad = dout * x
        times += 1
    return dout * y, grad


def in_an_inner(x, y, out, dout):
    def last():
        for each in (y, x):  # noqa: B007
            pass
        return dout * each

    return dout * y, last()


def has_a_set(x, y, out, dout):
    if x.ndim in {1, 2}:
        return dout * y, dout * x
    return dout, dout


def maps_a_lambda(x, y, out, dout):
    return tuple(map(lambda a: dout * a, (y, x)))


def maps_an_inner(x, y, out, dout):
    def product(a):
        return dout * a

    return tuple(map(product, (y, x)))


def reverses(x, y, out, dout):
    return tuple([dout * each for each in reversed([x, y])])


def reduces(x, y, out, dout):
    return dout * y, functools.reduce(ops.mul, (dout, x))


def lists(x, y, out, dout):
    return dout * y, dout * x if x.tolist() else dout


AFTER = r"uses {0} at line \d+, after the loop that .*; bind {0} before the loop as well"
REFUSED = {
    after_loop: AFTER.format("each"),
    after_a_count: AFTER.format("i"),
    bound_in_a_for: AFTER.format("first"),
    bound_in_a_while: AFTER.format("grad"),
    in_an_inner: AFTER.format("each"),
    has_a_set: r"has a set at line \d+",
    maps_a_lambda: r"maps a function that uses dout of the rule at .*; write a comprehension",
    maps_an_inner: r"maps a function that uses dout of the rule at .*; write a comprehension",
    reverses: r"calls reversed with x in it at line \d+.*; write the items in that order",
    reduces: r"calls reduce at line \d+.*; write a loop",
    lists: r"uses \.tolist\(\) at line \d+.*; compute with mindspore\.ops",
}


@pytest.mark.parametrize("rule", REFUSED, ids=lambda rule: rule.__name__)
def test_what_a_graph_cannot_compile_is_refused_in_every_mode(built, rule):
    check_refused(built, rule, REFUSED[rule])


def bound_before(x, y, out, dout):
    each = y
    for each in (y, x):  # noqa: B007
        pass
    return dout * y, dout * each


def twice(x, y, out, dout):
    grad = dout
    for each in (x, y):
        grad = dout * each
    for each in (y, x):
        grad = dout * each
    return (*[dout * each for each in (y,)], grad)


def negated(a):
    return -a


def maps(x, y, out, dout):
    first, second = map(negated, (-dout * y, -dout * x))
    return tuple(map(lambda a: negated(-a), (first, second)))


def of_constants(x, y, out, dout):
    grad = dout
    for _ in reversed(range(2)):
        grad = grad * 1
    return grad * y, dout * x


def in_a_branch(x, y, out, dout):
    if x.ndim == 7:
        return tuple(map(lambda a: dout * a, reversed(x.tolist())))
    return dout * y, dout * x


TAKEN = [bound_before, twice, maps, of_constants, in_a_branch]


@pytest.mark.parametrize("rule", TAKEN, ids=lambda rule: rule.__name__)
def test_what_every_mode_compiles_is_no_less(built, rule):
    check_product(Custom(built("product") + ":product", func_type="aot", bprop=rule))

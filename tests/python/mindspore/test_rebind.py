# SPDX-License-Identifier: Apache-2.0
"""A rule bound anew, whatever MindSpore is doing meanwhile."""

import mindspore as ms
import numpy as np
import pytest
from calls import draw, wide
from mindspore import ops
from mindspore.graph import api
from modes import array, close
from operator_libraries import write_operator
from operators import GROUPS

import opwright

X, Y = draw(2, 3), draw(2, 3)


def by_values(x, y, out, dout):
    return dout * y, dout * x


def by_signs(x, y, out, dout):
    return dout, ops.neg(dout)


VALUES = [wide(Y), wide(X)]
SIGNS = [np.ones((2, 3)), -np.ones((2, 3))]


@pytest.fixture
def product(tmp_path):
    """An operator whose rule no other test binds."""
    metadef, source = GROUPS["product"]
    marked = f"{source}\n// {tmp_path}\n"
    folder = write_operator(tmp_path / "product", metadef, marked)
    return opwright.load(opwright.build(folder, tmp_path / "libproduct.so")).product


def summed(op):
    def loss(x, y):
        return op(x, y).sum()

    return loss


def gradients(loss):
    return ms.grad(loss, (0, 1))(X, Y)


@pytest.mark.parametrize("form", [lambda loss: loss, ms.jit], ids=["plain", "jit"])
def test_a_gradient_that_is_being_recorded_goes_on(product, libraries, form):
    product.bprop(by_values)
    square = libraries("elementwise").square
    compiled = ms.jit(summed(product))
    close(gradients(compiled), VALUES)
    inner = form(summed(product))

    def loss(x, y):
        made = inner(x, y) + square(x).sum()
        product.bprop(by_signs)
        return made * 2

    one, other = gradients(loss)
    # What was called before the rule was bound is differentiated by either.
    rule = VALUES if array(other).min() > 0 else SIGNS
    close([one, other], [2 * rule[0] + 4 * wide(X), 2 * rule[1]])
    close(gradients(compiled), SIGNS)


def test_a_rule_bound_while_gradients_are_computed(product, libraries):
    other = libraries("product").product

    def binds(x, y, out, dout):
        product.bprop(by_signs)
        return dout * y, dout * x

    product.bprop(by_values)
    compiled = ms.jit(summed(product))
    close(gradients(compiled), VALUES)
    custom = opwright.mindspore.Custom(other, bprop=binds)
    close(gradients(summed(custom)), VALUES)
    close(gradients(compiled), SIGNS)


def test_a_rule_of_what_no_graph_holds_leaves_the_graphs_alone(product, libraries):
    square = libraries("elementwise").square

    @ms.jit
    def compiled(x):
        return square(x).sum()

    close(ms.grad(compiled)(X), 2 * wide(X))
    close(product(X, Y), wide(X) * wide(Y))
    kept = set(api.ms_compile_cache)
    product.bprop(by_values)
    assert kept
    assert kept == api.ms_compile_cache
    close(gradients(ms.jit(summed(product))), VALUES)
    product.bprop(by_signs)
    assert not api.ms_compile_cache


def test_bytecode_sees_a_rule_that_is_bound_anew(product):
    compiled = ms.jit(summed(product), capture_mode="bytecode")
    for rule, due in ((by_values, VALUES), (by_signs, SIGNS), (by_values, VALUES)):
        product.bprop(rule)
        close(gradients(compiled), due)

# SPDX-License-Identifier: Apache-2.0
"""Gradients of inputs that were broadcast: summed where the metadef says broadcast, only there."""

import pytest
from calls import draw, wide
from mindspore import ops
from modes import MODES, close, everywhere, gradient, weights_like

import opwright
from opwright.mindspore import Custom


def product(x, y, out, dout):
    return dout * y, dout * x


def kept(x, y, out, dout):
    """As a rule is that knows nothing of broadcasting."""
    return dout, dout


SHAPES = [((4, 3), (3,)), ((4, 3), (4, 1)), ((4, 1), (1, 4)), ((4, 3), ()), ((5, 2, 3), (2, 3)),
          ((2, 3), (5, 2, 3)), ((1,), (1,)), ((2, 1, 3), (4, 1)), ((0, 3), (3,)),
          ((1, 3), (1, 1))]  # fmt: skip


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_gradients_are_summed_where_the_metadef_says_broadcast(built, shapes):  # B01 B02 B04
    op = Custom(built("product") + ":product", func_type="aot", bprop=product)
    x, y = (draw(*shape) for shape in shapes)
    made = everywhere(op, (x, y), None)
    weights = weights_like(made.values)

    assert [g.shape for g in made.gradients] == [x.shape, y.shape]
    due = [
        reduced(wide(weights) * wide(y), x.shape),
        reduced(wide(weights) * wide(x), y.shape),
    ]
    close(made.gradients, due)
    op = Custom(built("product") + ":product", func_type="aot", bprop=kept)
    made = everywhere(op, (x, y), None, modes=("pynative", "graph"))
    close(made.gradients, [reduced(wide(weights), v.shape) for v in (x, y)])


def reduced(value, shape):
    """numpy's sum of a broadcast value to the shape it came from."""
    value = value.sum(axis=tuple(range(value.ndim - len(shape))))
    axes = tuple(k for k, n in enumerate(shape) if n == 1 and value.shape[k] != 1)
    return value.sum(axis=axes, keepdims=True) if axes else value


@pytest.mark.parametrize("mode", MODES)
def test_a_gradient_that_is_no_broadcast_of_the_input_is_refused(built, mode):
    def rule(x, y, out, dout):
        return ops.concat((dout, dout)), dout

    op = Custom(built("product") + ":product", func_type="aot", bprop=rule)

    def loss(x, y):
        return op(x, y).sum()

    with pytest.raises(opwright.GradientError, match=r"product.*input x") as caught:
        gradient(loss, (draw(4, 3), draw(3)), None, mode)
    assert caught.value.code == "GR005"


@pytest.mark.parametrize("mode", MODES)
def test_where_the_metadef_says_same_no_gradient_is_summed(built, mode):  # B01
    def rule(x, out, dout):
        return (ops.broadcast_to(dout, (2, 2, 3)),)

    op = Custom(built("elementwise") + ":square", func_type="aot", bprop=rule)

    def loss(x):
        return op(x).sum()

    with pytest.raises(opwright.GradientError, match=r"square.*\[2, 2, 3\], \[2, 3\]"):
        gradient(loss, (draw(2, 3),), None, mode)

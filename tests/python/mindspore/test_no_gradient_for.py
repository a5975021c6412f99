# SPDX-License-Identifier: Apache-2.0
"""Inputs that the backward operator gives no gradient for: a target, an optional weight, a mask."""

import mindspore as ms
import numpy as np
import pytest
from calls import draw, wide
from modes import MODES, close, gradient
from operator_libraries import write_operator
from sources.describe import HEADER, metadef, param

import opwright
import opwright.mindspore

FLOAT = ["float64"]
SHAPE = ["n"]
WEIGHT = param("weight", FLOAT, SHAPE, "optional")

SQUARES = (
    [
        metadef(
            "squares",
            [param("x", FLOAT, SHAPE), WEIGHT],
            [param("y", FLOAT, SHAPE)],
            shape_rule="same(x)",
            gradient="squares_grad",
        ),
        metadef(
            "squares_grad",
            [param("x", FLOAT, SHAPE), WEIGHT, param("grad_y", FLOAT, SHAPE)],
            [param("grad_x", FLOAT, SHAPE)],
            shape_rule="forward",
        ),
        metadef(
            "distance",
            [param("x", FLOAT, SHAPE), param("target", FLOAT, SHAPE)],
            [param("y", FLOAT, SHAPE)],
            shape_rule="same(x)",
            gradient="distance_grad",
        ),
        metadef(
            "distance_grad",
            [
                param("x", FLOAT, SHAPE),
                param("target", FLOAT, SHAPE),
                param("grad_y", FLOAT, SHAPE),
            ],
            [param("grad_x", FLOAT, SHAPE)],
            shape_rule="forward",
        ),
        metadef(
            "masked",
            [param("x", FLOAT, SHAPE), param("mask", ["bool"], SHAPE)],
            [param("y", FLOAT, SHAPE)],
            shape_rule="same(x)",
            gradient="masked_grad",
        ),
        metadef(
            "masked_grad",
            [param("mask", ["bool"], SHAPE), param("grad_y", FLOAT, SHAPE)],
            [param("grad_x", FLOAT, SHAPE)],
            shape_rule={"grad_x": "same(mask)"},
        ),
    ],
    HEADER
    + """
template <class T>
void Masked(View<const T> x, View<const bool> mask, View<T> y) {
  for (int64_t i = 0; i < x.Size(); ++i) y(i) = mask(i) ? x(i) : 0;
}
OPWRIGHT_FUNCTION(masked, Masked)
template <class T>
void MaskedGrad(View<const bool> mask, View<const T> g, View<T> gx) {
  for (int64_t i = 0; i < g.Size(); ++i) gx(i) = mask(i) ? g(i) : 0;
}
OPWRIGHT_FUNCTION(masked_grad, MaskedGrad)
template <class T>
void Squares(View<const T> x, View<const T> weight, View<T> y) {
  for (int64_t i = 0; i < x.Size(); ++i) y(i) = (weight ? weight(i) : 1) * x(i) * x(i);
}
OPWRIGHT_FUNCTION(squares, Squares)
template <class T>
void SquaresGrad(View<const T> x, View<const T> weight, View<const T> g, View<T> gx) {
  for (int64_t i = 0; i < x.Size(); ++i) gx(i) = (weight ? weight(i) : 1) * 2 * x(i) * g(i);
}
OPWRIGHT_FUNCTION(squares_grad, SquaresGrad)
template <class T>
void Distance(View<const T> x, View<const T> target, View<T> y) {
  for (int64_t i = 0; i < x.Size(); ++i) y(i) = (x(i) - target(i)) * (x(i) - target(i));
}
OPWRIGHT_FUNCTION(distance, Distance)
template <class T>
void DistanceGrad(View<const T> x, View<const T> target, View<const T> g, View<T> gx) {
  for (int64_t i = 0; i < x.Size(); ++i) gx(i) = 2 * (x(i) - target(i)) * g(i);
}
OPWRIGHT_FUNCTION(distance_grad, DistanceGrad)
""",
)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return opwright.load(write_operator(tmp_path_factory.mktemp("squares") / "squares", *SQUARES))


def of_one(operator):
    def loss(x):
        return operator(x).sum()

    return loss


def of_two(operator):
    def loss(x, y):
        return operator(x, y).sum()

    return loss


@pytest.mark.parametrize("mode", MODES)
def test_an_optional_input_that_is_not_given_is_due_none(library, mode):
    x = draw(5)
    custom = opwright.mindspore.Custom(library.squares)

    def unweighted(x):
        return custom(x, None)

    for operator in (library.squares, unweighted):
        close(gradient(of_one(operator), (x,), mode=mode), 2 * wide(x))


WORDS = (
    "the backward operator {0}_grad gives no gradient for input {1}, and MindSpore does not say "
    "that none is asked for; add it, zeros where there is none, or give bprop="
)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(("name", "what"), [("squares", "weight"), ("distance", "target")])
def test_one_that_is_given_is_refused(library, name, what, mode):
    x, y = draw(5), draw(5)
    operator = getattr(library, name)
    with pytest.raises(opwright.GradientError, match=WORDS.format(name, what)):
        gradient(of_two(operator), (x, y), (0,), mode=mode)


@pytest.mark.parametrize("mode", MODES)
def test_a_rule_with_zeros_is_the_cure(library, mode):
    def rule(x, target, out, dout):
        return 2 * (x - target) * dout, ms.ops.zeros_like(target)

    distance = opwright.mindspore.Custom(library.distance, bprop=rule)
    x, y = draw(5), draw(5)
    made = gradient(of_two(distance), (x, y), mode=mode)
    close(made, [2 * (wide(x) - wide(y)), np.zeros(5)])


@pytest.mark.parametrize("mode", MODES)
def test_a_mask_serves_two_calls(library, mode):
    masked = library.masked
    x = draw(5)

    def loss(x):
        mask = x > 0
        return (masked(x, mask) * masked(2 * x, mask)).sum()

    made = gradient(loss, (x,), mode=mode)
    close(made, 4 * wide(x) * (wide(x) > 0))


@pytest.mark.parametrize("mode", MODES)
def test_a_mask_serves_operators_of_mindspore_too(library, mode):
    masked = library.masked
    mask = ms.Tensor([True, False, True, True, False])
    x = draw(5)

    def loss(x, mask):
        return masked(x, mask).sum() / mask.astype(ms.float64).sum() + masked(2 * x, mask).sum()

    close(gradient(loss, (x, mask), (0,), mode=mode), [mask.asnumpy() * (1 / 3 + 2)])


def test_the_gradient_of_a_mask_is_zeros(library):
    def loss(x, mask):
        return library.masked(x, mask).sum()

    mask = ms.Tensor([True, False, True, True, False])
    of_x, of_mask = ms.grad(loss, (0, 1))(draw(5), mask)
    close([of_x, of_mask.astype(ms.float64)], [mask.asnumpy(), np.zeros(5)])

# SPDX-License-Identifier: Apache-2.0
"""Second derivatives: right, or refused in the same words in every mode."""

import mindspore as ms
import numpy as np
import pytest
from calls import draw, wide
from mindspore import Tensor, ops
from modes import MODES, Net, close, fixed, gradient, mode_of, refusals

import opwright
from opwright.mindspore import Custom


def second(function, x, mode):
    """The second derivatives of a function of one input whose elements are independent."""

    def loss(x):
        return function(x).sum()

    def compiled(x):
        return ms.grad(ms.grad(loss))(x)

    with mode_of(mode):
        if mode == "graph":
            made = ms.grad(ms.grad(Net(fixed(loss, 1))))(x)
        elif mode == "pynative":
            made = ms.grad(ms.grad(loss))(x)
        elif mode == "jit":
            made = ms.grad(ms.grad(ms.jit(loss)))(x)
        else:
            made = ms.jit(compiled)(x)
        made.asnumpy()
        return made


@pytest.mark.parametrize("mode", MODES)
def test_a_backward_operator_with_a_gradient_of_its_own(libraries, mode):  # G06
    power = libraries("elementwise").power

    def cube(x):
        return power(x, exponent=3, scale=0.5)

    x = draw(2, 3)
    close(second(cube, x, mode), 3 * wide(x))


@pytest.mark.parametrize("mode", MODES)
def test_second_derivatives_of_a_loss_that_mixes_elements(libraries, mode):  # G06
    """Here the gradient of the incoming gradient counts too."""
    power = libraries("elementwise").power

    def mixed(x):
        return power(x, exponent=3).sum() ** 2

    x = draw(3)
    if mode == "pynative":  # where MindSpore 2.10 loses a term, of its own operators too
        close(second(mixed, x, mode), second(lambda x: (x * x * x).sum() ** 2, x, mode), 1e-9)
        return
    # The row sums of the Hessian of (sum x^3)^2.
    v = wide(x)
    due = 2 * 3 * v**2 * (3 * v**2).sum() + 2 * (v**3).sum() * 6 * v
    close(second(mixed, x, mode), due, 1e-9)


def cube_rule(x, out, dout):
    return (2 * x * dout,)


def product_rule(x, y, out, dout):
    return dout * y, dout * x


@pytest.mark.parametrize("mode", MODES)
def test_a_rule_of_differentiable_operations(built, mode):  # G06
    op = Custom(built("elementwise") + ":square", func_type="aot", bprop=cube_rule)
    x = draw(2, 3)
    close(second(op, x, mode), np.full((2, 3), 2.0))
    # And through a product with itself, by broadcasting.
    times = Custom(built("product") + ":product", func_type="aot", bprop=product_rule)
    one = Tensor(1.5, ms.float64)

    def both(x):
        return times(times(x, x), one)

    close(second(both, x, mode), np.full((2, 3), 3.0))


@pytest.mark.parametrize("mode", MODES)
def test_a_rule_that_calls_operators_with_gradients(built, libraries, mode):  # G06
    power = libraries("elementwise").power

    def rule(x, out, dout):
        return (2 * power(x, exponent=1) * dout,)

    op = Custom(built("elementwise") + ":square", func_type="aot", bprop=rule)
    close(second(op, draw(2, 3), mode), np.full((2, 3), 2.0))


@pytest.mark.parametrize("name", ["square", "inverse"])
def test_where_the_backward_operator_has_no_gradient_it_is_refused(libraries, name):  # G06
    op = libraries("elementwise")[name]
    x = draw(2, 3)

    def loss(x):
        return op(x).sum()

    def action(mode):
        gradient(loss, (x,), None, mode)
        return second(op, x, mode)

    verdicts = refusals(action)
    for mode, error in verdicts.items():
        with pytest.raises(opwright.GradientError, match=f"{name}_grad") as caught:
            raise error or AssertionError(f"{mode} gave a second derivative")
        assert caught.value.code == "GR021"
        assert str(error) == str(verdicts["pynative"]), mode
    # The first derivative is none the worse for it.
    close(gradient(loss, (x,)), 2 * wide(x) if name == "square" else -1 / wide(x) ** 2)


def test_a_third_derivative_is_refused_where_the_second_is_the_last(libraries):
    power = libraries("elementwise").power

    def cube(x):
        return power(x, exponent=3).sum()

    x = draw(3)
    with pytest.raises(opwright.GradientError, match="power_grad_grad"):
        ms.grad(ms.grad(ms.grad(cube)))(x)
    with pytest.raises(opwright.GradientError, match="power_grad_grad"):
        ms.jit(fixed(third_of(cube), 1))(x)


def third_of(function):
    def third(x):
        return ms.grad(ms.grad(ms.grad(function)))(x)

    return third


@pytest.mark.parametrize("mode", ["pynative", "jit", "graph"])
def test_a_rule_of_a_kernel_without_a_gradient_is_refused(built, libraries, mode):  # G06
    """The rule is Python, what it calls is compiled and ends there."""
    helper = libraries("element_add").element_add

    def rule(x, out, dout):
        return (helper(dout, x),)

    op = Custom(built("elementwise") + ":square", func_type="aot", bprop=rule)
    x = draw(3, dtype=ms.float32)

    def loss(x):
        return op(x).sum()

    close(gradient(loss, (x,), None, mode), 1 + wide(x))
    with pytest.raises(opwright.GradientError, match="element_add"):
        second(op, x, mode)


@pytest.mark.parametrize("name", ["power", "square"])
def test_forward_mode_is_right_or_refused(libraries, name):
    op = libraries("elementwise")[name]

    def function(x):
        return op(x, exponent=2) if name == "power" else op(x)

    x, v = draw(3), draw(3)
    try:
        value, tangent = ms.jvp(function, x, v)
    except opwright.GradientError as error:
        assert name == "square" and "square_grad" in str(error)
        return
    close(value, wide(x) ** 2)
    close(tangent, 2 * wide(x) * wide(v))


@pytest.mark.parametrize("mode", MODES)
def test_vectors_times_the_hessian(libraries, mode):
    """grad of (grad . v): what optimisers of second order ask for."""
    power = libraries("elementwise").power
    x, v = draw(4), draw(4)

    def loss(x):
        return power(x, exponent=3).sum()

    def directional(x):
        return (ms.grad(loss)(x) * v).sum()

    if mode == "jit":
        directional = ms.jit(directional)
    made = gradient(directional, (x,), (0,), mode)
    close(made, 6 * wide(x) * wide(v))


def test_a_second_derivative_of_the_native_expression_agrees(libraries):
    power = libraries("elementwise").power
    x = draw(5)

    def ours(x):
        return ops.exp(power(x, exponent=2))

    def native(x):
        return ops.exp(x * x)

    due = second(native, x, "pynative")
    for mode in MODES:
        close(second(ours, x, mode), due, 1e-12)


def by_values(x, y, out, dout):
    return dout * y, dout * x


@pytest.mark.parametrize("kind", ["rule", "backward operator"])
def test_by_a_parameter_through_a_gradient_inside_of_what_is_differentiated(libraries, kind):
    """A gradient penalty, and a step of gradient descent on the same Parameter."""
    x, weight = draw(3), ms.Parameter(draw(3), name="weight")

    def twice(x):
        if kind == "rule":
            product = Custom(libraries("product").product, bprop=by_values)
            return product(product(x, weight), weight).sum()
        return (x * libraries("elementwise").power(weight, exponent=2)).sum()

    def penalty(x):
        return (ms.grad(twice)(x) ** 2).sum()  # w^4

    def step(x):
        return (ms.grad(twice, None, [weight])(x)[0] ** 2).sum()  # (2 x w)^2

    w = wide(weight)
    close(ms.grad(penalty, None, [weight])(x), 4 * w**3)
    close(ms.grad(step, None, [weight])(x), 8 * wide(x) ** 2 * w)

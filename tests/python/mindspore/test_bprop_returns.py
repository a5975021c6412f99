# SPDX-License-Identifier: Apache-2.0
"""What a rule returns: reduced, cast, or refused in the same words in every mode."""

import functools

import mindspore as ms
import numpy as np
import pytest
from calls import draw, wide
from mindspore import Tensor, ops
from modes import MODES, close, everywhere, forward, gradient, refusals, weights_like

import opwright
from opwright.mindspore import Custom


def bare(x, y, out, dout):
    return dout * y


def no_comma(x, y, out, dout):
    return dout * y


def short(x, y, out, dout):
    return (dout * y,)


def long(x, y, out, dout):
    return dout * y, dout * x, dout


def as_list(x, y, out, dout):
    return [dout * y, dout * x]


def nothing(x, y, out, dout):
    dout * y


def nothing_for_one(x, y, out, dout):
    return dout * y, None


def scalar_shape(x, y, out, dout):
    return dout * y, (dout * x).sum()


def longer(x, y, out, dout):
    return ops.concat((dout, dout)), dout * x


def transposed(x, y, out, dout):
    return dout.T, dout


def integer(x, y, out, dout):
    return ops.cast(dout, ms.int32), dout


def boolean(x, y, out, dout):
    return dout, dout > 0


def number(x, y, out, dout):
    return dout, 1.0


def nested(x, y, out, dout):
    return (dout, dout), dout


def dictionary(x, y, out, dout):
    return {"x": dout, "y": dout}


BARE = r"bare tensor.* `return \(grad_x, grad_y\)`"
WRONG = {
    bare: ("GR003", BARE),
    no_comma: ("GR003", BARE),
    short: ("GR003", "1 gradient, 2 are due"),
    long: ("GR003", "3 gradients, 2 are due"),
    as_list: ("GR003", "a list, a tuple is due"),
    nothing: ("GR003", "returned nothing"),
    nothing_for_one: ("GR004", "None for input y"),
    scalar_shape: ("GR005", r"y has shape \[\], \[2, 3\]"),
    longer: ("GR005", r"x has shape \[4, 3\], \[2, 3\]"),
    transposed: ("GR005", r"x has shape \[3, 2\], \[2, 3\]"),
    integer: ("GR006", "input x"),
    boolean: ("GR006", "input y"),
    number: ("GR006", "input y"),
    nested: ("GR006", "input x"),
    dictionary: ("GR003", "dict"),
}


@pytest.mark.parametrize("rule", WRONG, ids=lambda rule: rule.__name__)
def test_a_wrong_answer_is_refused_in_the_same_words(built, rule):  # G02 G03 M12 S10
    code, words = WRONG[rule]
    op = Custom(built("product") + ":product", func_type="aot", bprop=rule)
    x, y = draw(2, 3), draw(2, 3)
    weight = draw(2, 3)

    def loss(x, y):
        return (op(x, y) * weight).sum()

    verdicts = refusals(lambda mode: gradient(loss, (x, y), None, mode))
    for mode, error in verdicts.items():
        with pytest.raises(opwright.GradientError, match=words) as caught:
            raise error or AssertionError(f"{mode} took it")
        assert caught.value.code == code
        assert "product" in str(error)
        assert str(error) == str(verdicts["pynative"]), mode
    # Nothing is left behind by the refusals.
    close(forward(op, (x, y)), wide(x) * wide(y))


@pytest.mark.parametrize("mode", MODES)
def test_all_is_checked_though_one_gradient_is_asked_for(built, mode):
    op = Custom(built("product") + ":product", func_type="aot", bprop=scalar_shape)
    x = draw(2, 3)

    def loss(x, y):
        return op(x, y).sum()

    with pytest.raises(opwright.GradientError, match="input y"):
        gradient(loss, (x, x), (0,), mode)


def bare_in_a_branch(x, y, out, dout):
    if x.sum() > 1e9:
        return dout
    return dout * y, dout * x


def product_in_a_branch(x, y, out, dout):
    if x.sum() > 1e9:
        return dout * y
    return dout * y, dout * x


def short_in_a_branch(x, y, out, dout):
    if x.sum() > 1e9:
        return (dout * y,)
    return dout * y, dout * x


def nothing_in_a_branch(x, y, out, dout):
    if x.sum() > 1e9:
        return None
    return dout * y, dout * x


@pytest.mark.parametrize(
    "rule, what",
    [
        (bare_in_a_branch, "a bare tensor"),
        (product_in_a_branch, "a bare tensor"),
        (short_in_a_branch, "1 gradient"),
        (nothing_in_a_branch, "nothing"),
    ],
)
def test_branches_that_return_other_things_are_refused_at_once(built, rule, what):  # G02
    line = rule.__code__.co_firstlineno + 2
    words = rf"product: the bprop {rule.__name__} returns {what} at line {line} and a tuple of 2"
    with pytest.raises(opwright.GradientError, match=words) as caught:
        Custom(built("product") + ":product", func_type="aot", bprop=rule)
    assert caught.value.code == "GR003"


def by_branches(x, y, out, dout):
    if x.ndim == 1:
        return dout * y, dout * x
    grads = (dout * y, dout * x)
    if x.sum() > 1e9:
        return grads
    return dout * y, dout * x


def test_branches_that_return_alike_are_compiled(built):
    op = Custom(built("product") + ":product", func_type="aot", bprop=by_branches)
    x, y, weights = draw(2, 3), draw(2, 3), draw(2, 3)
    made = everywhere(op, (x, y), (0, 1), weights)
    close(made.gradients, (wide(weights) * wide(y), wide(weights) * wide(x)))


def only(x, out, dout):
    return dout * 2 * x


@pytest.mark.parametrize("mode", MODES)
def test_a_bare_tensor_of_one_input_is_refused_too(built, mode):
    """PyNative alone would take it, a compiled graph would not."""
    op = Custom(built("elementwise") + ":square", func_type="aot", bprop=only)
    x = draw(2, 3)

    def loss(x):
        return op(x).sum()

    with pytest.raises(opwright.GradientError, match=r"square: .*bare tensor.*return \(grad_x,\)"):
        gradient(loss, (x,), None, mode)


@pytest.mark.parametrize("dtype", [ms.float16, ms.float32, ms.float64], ids=str)
def test_a_gradient_in_another_float_dtype_is_cast(built, dtype):  # D07
    def rule(x, y, out, dout):
        return ops.cast(dout * y, dtype), ops.cast(dout * x, dtype)

    op = Custom(built("product") + ":product", func_type="aot", bprop=rule)
    x, y = draw(2, 3, dtype=ms.float32), draw(2, 3, dtype=ms.float32)
    made = everywhere(op, (x, y), None)
    assert [g.dtype for g in made.gradients] == [ms.float32, ms.float32]
    weights = wide(weights_like(made.values))
    numpys = ms.dtype_to_nptype(dtype)
    due = (weights.astype("f4") * y.asnumpy()).astype(numpys).astype("f4")
    assert made.gradients[0].asnumpy().tobytes() == due.tobytes()


def test_none_for_integer_inputs(built):  # G16
    def rule(x, idx, out, dout):
        return ops.zeros_like(x) + dout.sum(), None

    op = Custom(built("inputs") + ":take_rows", func_type="aot", bprop=rule)
    x, idx = draw(5, 3, dtype=ms.float32), Tensor([4, 0], ms.int32)
    for mode in MODES:

        def loss(x, idx):
            return op(x, idx).sum()

        close(gradient(loss, (x, idx), (0,), mode), np.full((5, 3), 6.0))


def test_several_outputs_come_as_tuples(built):
    def rule(x, out, dout):
        return (2 * dout[0] + ops.cast(dout[2], ms.float32) + 0 * out[0],)

    op = Custom(built("several") + ":parts", func_type="aot", bprop=rule)
    x = draw(2, 3, dtype=ms.float32)
    made = everywhere(op, (x,), None)
    close(made.gradients, 2 * (np.arange(6) % 7 - 2.5).reshape(2, 3) - 2.5)


def scaled(x, y, out, dout, alpha, factor=1.0):
    return factor * alpha * dout * y, factor * alpha * dout * x


class Scaled:
    def __call__(self, x, y, out, dout, alpha):
        return alpha * dout * y, alpha * dout * x


@pytest.mark.parametrize(
    "rule",
    [
        scaled,
        functools.partial(scaled, factor=1.0),
        functools.partial(scaled, alpha=7.0),  # as in Python, the attribute goes before it
        Scaled(),
    ],
    ids=["function", "partial", "partial of the attribute", "callable object"],
)
def test_a_rule_gets_attributes_that_it_names(built, rule):
    op = Custom(built("product") + ":product", func_type="aot", bprop=rule)
    op.add_prim_attr("alpha", 3.0)
    x, y = draw(2, 3), draw(2, 3)
    made = everywhere(op, (x, y), None)
    weights = (np.arange(6) % 7 - 2.5).reshape(2, 3)
    close(made.values, 3 * wide(x) * wide(y))
    close(made.gradients, [3 * weights * wide(y), 3 * weights * wide(x)])


def test_an_absent_input_is_none_to_the_rule(built):
    def rule(x, w, bias, out, dout):
        return ops.matmul(dout, w.T), ops.matmul(x.T, dout), None

    op = Custom(built("inputs") + ":linear", func_type="aot", bprop=rule)
    x, w = draw(3, 4), draw(4, 5)

    def call(x, w):
        return op(x, w, None)

    made = everywhere(call, (x, w), None)
    weights = wide(weights_like(made.values))
    close(made.gradients, [weights @ wide(w).T, wide(x).T @ weights])


def test_out_and_dout_are_what_they_are_called(built):
    def rule(x, out, dout):
        return (-out * out * dout,)

    op = Custom(built("elementwise") + ":inverse", func_type="aot", bprop=rule)
    x = draw(5)
    weights = np.arange(5) - 2.5
    close(everywhere(op, (x,), None).gradients, -weights / wide(x) ** 2)


@pytest.mark.parametrize("mode", MODES)
def test_inputs_that_are_no_tensors_share_nothing(libraries, mode):
    def rule(x, b, s, out, dout):
        return dout * s, None, None

    op = Custom(libraries("fused_broadcast").fused_broadcast, bprop=rule)
    x = draw(2, 3)

    def loss(x):
        return op(x, 2.0, 0.5).sum()

    close(gradient(loss, (x,), None, mode), np.full((2, 3), 0.5))


def stopped(op, x, y):
    return (ops.stop_gradient(op(x, y)) * x + y).sum()


def unused(op, x, y):
    op(x, y)
    return (x * x * y * y + y).sum()


def of_constants(op, x, y):
    z = op(Tensor(np.ones((2, 3))), Tensor(np.ones((2, 3))))
    return (z * x * y * y * x + y).sum()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("call", [stopped, unused, of_constants], ids=lambda call: call.__name__)
def test_an_operator_without_a_gradient_may_stand_where_none_is_asked_of_it(libraries, call, mode):
    op = libraries("product").product
    x, y = draw(2, 3), draw(2, 3)
    a, b = wide(x), wide(y)
    due = (a * b, np.ones((2, 3))) if call is stopped else (2 * a * b * b, 2 * a * a * b + 1)

    def loss(x, y):
        return call(op, x, y)

    close(gradient(loss, (x, y), None, mode), due)

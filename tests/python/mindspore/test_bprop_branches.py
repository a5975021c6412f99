# SPDX-License-Identifier: Apache-2.0
"""Branches of a rule by the values of tensors: what they bind and return is joined in compiled
modes. What is not of one kind is refused at once; what is, is right in every mode."""

import numpy as np
import pytest
from calls import check_product, check_refused, draw
from mindspore import ops
from modes import MODES, close, gradient

import opwright
from opwright.mindspore import Custom


def none_or_a_gradient(x, y, out, dout):
    grad = None
    if x.sum() > 0:
        grad = dout * y
    return grad, dout * x


def a_number_or_a_tensor(x, y, out, dout):
    if x.sum() > 1000:  # noqa: SIM108
        scale = dout
    else:
        scale = 1.0
    return dout * y * scale, dout * x


def a_product_or_a_number(x, y, out, dout):
    scale = 1
    if x.sum() > 1000:
        scale *= dout
    return dout * y * scale, dout * x


def one_of_three(x, y, out, dout):
    grad = dout * y
    if x.sum() > 1000:
        grad = dout
    elif x.sum() > 500:
        grad = 0.0
    return grad, dout * x


def inside_of_another(x, y, out, dout):
    scale = 1.0
    if x.sum() > 0:  # noqa: SIM102
        if y.sum() > 1000:
            scale = dout
    return dout * y * scale, dout * x


def a_list_or_a_tuple(x, y, out, dout):
    grads = (dout * y, dout * x)
    if x.sum() > 1000:
        grads = [dout, dout]
    return grads[0], grads[1]


def lists(x, y, out, dout):
    grads = [dout * y, dout * x]
    if x.sum() > 1000:
        grads = [dout, dout]
    return grads[0], grads[1]


def none_or_a_number(x, y, out, dout):
    scale = None
    if x.sum() > 0:
        scale = 1.0
    return dout * y * scale, dout * x


def bound_in_one(x, y, out, dout):
    if x.sum() > 0:
        grad = dout * y
    return grad, dout * x


def chosen(x, y, out, dout):
    return ops.mul(dout, y if x.sum() > 0 else 1.0), dout * x


def chosen_lists(x, y, out, dout):
    grads = [dout * y, dout * x] if x.sum() > 0 else [dout, dout]
    return grads[0], grads[1]


def returns_none(x, y, out, dout):
    if x.sum() > 1000:
        return dout * y, None
    return dout * y, dout * x


def returns_a_number(x, y, out, dout):
    if x.sum() > 1000:
        return 0.0, dout * x
    elif x.sum() > 0:
        return dout * y, dout * x
    else:
        return dout * 1, dout * x


def helped(x, y, out, dout):
    return of_a_helper(dout, y), dout * x


def of_a_helper(a, b):
    scale = 1.0
    if a.sum() > 1000:
        scale = a
    return a * b * scale


AT = r" by a tensor's values at line \d+, .*; "
TENSORS = AT + r"make it a tensor in each, as ops\.zeros_like\(x\) is one"
REFUSED = {
    none_or_a_gradient: "binds grad to a tensor or None" + TENSORS,
    a_number_or_a_tensor: "binds scale to a tensor or a number" + TENSORS,
    a_product_or_a_number: "binds scale to a tensor or a number" + TENSORS,
    one_of_three: "binds grad to a tensor or a number" + TENSORS,
    inside_of_another: "binds scale to a tensor or a number" + TENSORS,
    a_list_or_a_tuple: f"binds grads to a list of tensors or a tuple of tensors{AT}write tuples",
    lists: f"binds grads to a list of tensors{AT}write tuples in each",
    none_or_a_number: f"binds scale to None or a number{AT}give it one kind",
    bound_in_one: f"binds grad to a tensor or nothing{AT}bind it before as well",
    chosen: "chooses a tensor or a number" + TENSORS,
    chosen_lists: f"chooses a list of tensors{AT}write tuples in each",
    returns_none: "returns a tensor or None" + TENSORS,
    returns_a_number: "returns a tensor or a number" + TENSORS,
    helped: "calls of_a_helper, which binds scale to a tensor or a number" + TENSORS,
}


@pytest.mark.parametrize("rule", REFUSED, ids=lambda rule: rule.__name__)
def test_what_compiled_modes_cannot_join_is_refused_in_every_mode(built, rule):
    check_refused(built, rule, REFUSED[rule])


def of_one_kind(x, y, out, dout):
    scale, times = ops.ones_like(x), 2.0
    if x.sum() > 0:
        grad = dout * y
        times = 1.0
    else:
        grad = dout
    if y.sum() > 1000:
        scale = dout
    return grad * scale * times, dout * x if x.sum() > 0 else dout


def tuples(x, y, out, dout):
    grads = (dout, dout)
    if x.sum() > 0:
        grads = (dout * y, dout * x)
    return grads[0], grads[1]


def not_used(x, y, out, dout):
    grad = scale = None
    if x.sum() > 0:
        scale = dout
        other = dout
        scale = other * y
    grad = dout * y
    if x.ndim == 7:
        return scale, scale
    return grad, dout * x


def bound_again(x, y, out, dout):
    scale = None
    if x.sum() > 0:
        scale = dout
    for _ in range(2):
        scale = y
    return dout * scale, dout * x


def the_other_raises(x, y, out, dout):
    if x.sum() > 0:
        grad = dout * y
    else:
        raise ValueError("negative")
    return grad, dout * x


def by_rank(x, y, out, dout):
    grad = None
    if x.ndim == 2:
        grad = dout * y
    if y.ndim == 7:
        return grad, None
    return grad, dout * x if x.ndim == 2 else 0.0


def by_numbers(x, y, out, dout):
    scale = 2
    if x.sum() > 0:
        scale = 1.0
    return dout * y * scale, dout * x


def the_other_returns(x, y, out, dout):
    if x.sum() > 1000:
        return dout, dout
    else:
        grad = dout * y
    if y.sum() > 1000:
        grad = grad * 2.0
    return grad, dout * x


TAKEN = (
    of_one_kind,
    tuples,
    not_used,
    bound_again,
    the_other_raises,
    the_other_returns,
    by_rank,
    by_numbers,
)


@pytest.mark.parametrize("rule", TAKEN)
def test_what_every_mode_compiles_is_no_less(built, rule):
    check_product(Custom(built("product") + ":product", func_type="aot", bprop=rule))


def for_a_list(xs, bias, out, dout):
    return [dout * 1, dout * 2], dout * 3


def tuples_for_a_list(xs, bias, out, dout):
    if dout.sum() > 1000:
        return (dout, dout), dout
    return (dout * 1, dout * 2), dout * 3


def lists_for_a_list(xs, bias, out, dout):
    if dout.sum() > 1000:
        return [dout, dout], dout
    return [dout * 1, dout * 2], dout * 3


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("rule", [for_a_list, tuples_for_a_list])
def test_gradients_of_a_list(built, rule, mode):
    op = Custom(built("inputs") + ":sum_all", func_type="aot", bprop=rule)

    def loss(a, b, bias):
        return op([a, b], bias).sum()

    made = gradient(loss, (draw(2, 3), draw(2, 3), draw(2, 3)), None, mode)
    close(made, [np.full((2, 3), each) for each in (1.0, 2.0, 3.0)])


def test_gradients_of_a_list_are_tuples_where_branches_return_them(built):
    with pytest.raises(opwright.GradientError, match=f"returns a list of tensors{AT}write tuples"):
        Custom(built("inputs") + ":sum_all", func_type="aot", bprop=lists_for_a_list)

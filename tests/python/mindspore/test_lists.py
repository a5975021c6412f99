# SPDX-License-Identifier: Apache-2.0
"""Gradients of operators that take a list: MindSpore differentiates by the tensors in it."""

import json

import mindspore as ms
import numpy as np
import pytest
from calls import draw, wide
from mindspore import Tensor, ops
from modes import FORWARD, MODES, close, forward, gradient

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


NO_LIST = {
    "None": (None, r"sum_all: xs\[1\] is None, or of another framework"),
    "number": (2, r"sum_all: xs\[1\] is the number 2, a tensor is due"),
    "text": ("t", r"sum_all: xs\[1\] is a text, a tensor is due"),
    "list": ([Y], r"sum_all: xs\[1\] is a list, a tensor is due"),
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("kind", NO_LIST)
@pytest.mark.parametrize("how", ["load", "Custom"])
def test_what_is_no_tensor_in_a_list_is_refused(libraries, how, kind, mode):
    op = libraries("inputs").sum_all
    op = Custom(op) if how == "Custom" else op
    value, words = NO_LIST[kind]

    def loss(x):
        return op([x, value], None).sum()

    with pytest.raises(opwright.Error, match=words) as caught:
        gradient(loss, (X,), None, mode)
    assert caught.value.code == "CL001"


@pytest.mark.parametrize("mode", MODES)
def test_an_empty_list_is_refused(libraries, mode):
    op = libraries("inputs").sum_all

    def loss(x):
        return op([], x).sum()

    with pytest.raises(opwright.Error, match="sum_all: the list xs is empty"):
        gradient(loss, (X,), None, mode)


METADEF = {
    "op_name": "picked",
    "input_desc": [
        {"name": "ks", "dtype": ["int64"], "shape": [-2], "param_type": "dynamic"},
        {"name": "y", "dtype": ["float32"], "shape": ["n"]},
    ],
    "output_desc": [{"name": "z", "dtype": ["float32"], "shape": ["n"]}],
    "shape_rule": "same(y)",
}
SOURCE = """
#include <opwright/kernel.h>
using namespace opwright;
void Picked(ViewList<const int64_t> ks, View<const float> y, View<float> z) {
  for (int64_t i = 0; i < y.Size(); ++i) {
    z.Data()[i] = 0;
    for (int64_t k = 0; k < ks.Size(); ++k) z.Data()[i] += y.Data()[ks[k].Data()[i]];
  }
}
OPWRIGHT_FUNCTION(picked, Picked)
"""


@pytest.fixture(scope="module")
def picked(tmp_path_factory):
    folder = tmp_path_factory.mktemp("picked")
    (folder / "op.json").write_text(json.dumps(METADEF))
    (folder / "kernel.cpp").write_text(SOURCE)
    return opwright.load(opwright.build(folder)).picked


def none(ks, y, out, dout):
    return None, 2 * dout


def nones(ks, y, out, dout):
    return [None, None], 2 * dout


def like(ks, y, out, dout):
    return ks, 2 * dout


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bprop", [none, nones, like])
def test_a_list_of_integers_is_due_no_gradient(picked, bprop, mode):
    op = Custom(picked, bprop=bprop)
    places = Tensor([2, 0, 1])

    def loss(y):
        return op([places, places], y).sum()

    y = Tensor([1.0, 2.0, 3.0])
    close(forward(loss, (y,), mode if mode in FORWARD else "jit"), 12)
    close(gradient(loss, (y,), None, mode), np.full(3, 2.0))


def narrow(xs, bias, out, dout):
    return [ops.cast((k + 1) * dout, ms.float32) for k in range(len(xs))], None


@pytest.mark.parametrize("mode", MODES)
def test_a_gradient_in_a_list_is_cast_to_the_tensor(libraries, mode):
    op = Custom(libraries("inputs").sum_all, bprop=narrow)

    def loss(x, y):
        return op([x, y], None).sum()

    made = gradient(loss, (X, Y), None, mode)
    assert [each.dtype for each in made] == [ms.float64, ms.float64]
    close(made, [np.ones(4), np.full(4, 2.0)])


def missing(xs, bias, out, dout):
    return None, None


@pytest.mark.parametrize("mode", MODES)
def test_none_for_a_list_of_floats_is_refused(libraries, mode):
    op = Custom(libraries("inputs").sum_all, bprop=missing)

    def loss(x, y):
        return op([x, y], None).sum()

    with pytest.raises(opwright.GradientError, match="None for the list xs") as caught:
        gradient(loss, (X, Y), None, mode)
    assert caught.value.code == "GR004"

# SPDX-License-Identifier: Apache-2.0
"""Rules of operators with several outputs: out and dout are tuples. A rule that takes one for a
tensor is refused at once; one that takes the tuple for what it is has the same values in each mode.
"""

import functools

import mindspore as ms
import numpy as np
import pytest
from calls import draw, wide
from mindspore import Tensor, nn, ops
from modes import MODES, close, everywhere, gradient, weights_like

import opwright
from opwright.mindspore import Custom

# p = x * y, q = x + 3 * y


def multiplies(x, y, out, dout):
    return dout * y, dout * x


def multiplies_from_the_left(x, y, out, dout):
    return y * dout, x * dout


def scales(x, y, out, dout):
    grad = 0.5 * dout
    return grad[0], grad[1]


def divides(x, y, out, dout):
    return dout / 2, y


def negates(x, y, out, dout):
    return -dout, y


def calls(x, y, out, dout):
    return ops.mul(dout, y), y


def calls_a_method(x, y, out, dout):
    return dout.mul(y), y


def asks_for_its_shape(x, y, out, dout):
    return y, ops.reshape(x, dout.shape)


def by_another_name(x, y, out, dout):
    grad = dout
    return grad * y, grad * x


def takes_out(x, y, out, dout):
    return dout[0] * out, dout[0] * x


def in_a_loop(x, y, out, dout):
    grads = []
    for _ in range(2):
        grads = [*grads, dout * x]
    return grads[0], grads[1]


def scaled(scale, x, y, out, dout):
    return dout * y * scale, dout[0] * x


class Object:
    def __call__(self, x, y, out, dout):
        return dout * y, dout[0] * x


class Cell(nn.Cell):
    def construct(self, x, y, out, dout):
        return dout * y, dout[0] * x


def of_two(name, line):
    what = "gradients, one for each output" if name == "dout" else "outputs"
    return rf"takes {name} for a tensor at line {line}; {name} is a tuple of 2 {what}; write {name}"


FIRST = (multiplies, multiplies_from_the_left, scales, divides, negates, calls, calls_a_method)
REFUSED = {
    **{rule: of_two("dout", rule.__code__.co_firstlineno + 1) for rule in FIRST},
    asks_for_its_shape: of_two("dout", r"\d+"),
    by_another_name: of_two("dout", by_another_name.__code__.co_firstlineno + 2),
    takes_out: of_two("out", r"\d+"),
    in_a_loop: of_two("dout", in_a_loop.__code__.co_firstlineno + 3),
    functools.partial(scaled, 2.0): of_two("dout", r"\d+"),
    Object(): of_two("dout", r"\d+"),
    Cell(): of_two("dout", r"\d+"),
    lambda x, y, out, dout: (dout * y, dout[0]): of_two("dout", r"\d+"),
}


def name_of(rule):
    return getattr(rule, "__name__", type(rule).__name__)


@pytest.mark.parametrize("rule", REFUSED, ids=name_of)
def test_a_tuple_taken_for_a_tensor_is_refused_in_every_mode(built, rule):
    with pytest.raises(opwright.GradientError, match=r"pair: .*" + REFUSED[rule]) as caught:
        Custom(built("inputs") + ":pair", func_type="aot", bprop=rule)
    assert caught.value.code == "GR007"


def by_index(x, y, out, dout):
    return dout[0] * y + dout[1], dout[0] * x + 3 * dout[1] + 0 * out[1]


def unpacked(x, y, out, dout):
    p, q = dout
    return p * y + q, p * x + 3 * q


def stacked(x, y, out, dout):
    grad = ops.stack(dout)
    return grad[0] * y + grad[1], grad[0] * x + len(dout) * 1.5 * grad[1]


def repeated(x, y, out, dout):
    four = dout * 2
    return four[2] * y + four[3], four[0] * x + 3 * four[1]


def added_to_a_tensor(x, y, out, dout):
    both = 0 * x + dout
    return both[0] * y + both[1], both[0] * x + 3 * both[1]


def bound_again(x, y, out, dout):
    q = dout[1]
    dout = dout[0]
    return dout * y + q, dout * x + 3 * q


def another_tuple_in_a_branch(x, y, out, dout):
    grads = dout
    if x.sum() > 1000:
        grads = (dout[0] * y, dout[1] * x)
    return grads[0] * y + grads[1], grads[0] * x + 3 * grads[1]


def another_name_that_was_a_tensor(x, y, out, dout):
    grad = dout[0] * x * 1.0
    x = dout
    return x[0] * y + x[1], grad + 3 * x[1]


TAKEN = (
    by_index,
    unpacked,
    stacked,
    repeated,
    added_to_a_tensor,
    bound_again,
    another_tuple_in_a_branch,
    another_name_that_was_a_tensor,
)


@pytest.mark.parametrize("rule", TAKEN)
def test_a_tuple_taken_for_a_tuple_is_right_in_every_mode(built, rule):
    op = Custom(built("inputs") + ":pair", func_type="aot", bprop=rule)
    x, y = draw(2, 3), draw(2, 3)
    made = everywhere(op, (x, y), None)
    p, q = map(wide, weights_like(made.values))
    close(made.gradients, [p * wide(y) + q, p * wide(x) + 3 * q])


def both(x):
    return 2 * x, 3 * x


def of_a_function(x, out, dout):
    return (2 * dout[0] + 3 * dout[1],)


def of_a_function_for_a_tensor(x, out, dout):
    return (dout * x,)


SHAPES = ([4], [4])
DTYPES = (ms.float32, ms.float32)


@pytest.mark.parametrize(
    "out_shape, out_dtype", [(SHAPES, DTYPES), (lambda x: (x, x), DTYPES)], ids=["both", "dtypes"]
)
def test_a_python_function_with_several_outputs(out_shape, out_dtype):
    with pytest.raises(opwright.GradientError, match=of_two("dout", r"\d+")) as caught:
        Custom(both, out_shape, out_dtype, "pyfunc", of_a_function_for_a_tensor)
    assert caught.value.code == "GR007"
    op = Custom(both, out_shape, out_dtype, "pyfunc", of_a_function)
    x = Tensor([1, 2, 3, 4], ms.float32)

    def loss(x):
        p, q = op(x)
        return (p * x).sum() + q.sum()

    for mode in MODES:
        close(gradient(loss, (x,), None, mode), 4 * wide(x) + np.full(4, 3.0))

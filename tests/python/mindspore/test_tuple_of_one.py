# SPDX-License-Identifier: Apache-2.0
"""One output that is declared by tuples of one: a tuple of one, as MindSpore itself makes it, in
every mode; and so are out and dout for the bprop that is given."""

import mindspore as ms
import misuse
import numpy as np
import pytest
from calls import draw, wide
from mindspore import Tensor
from modes import FORWARD, MODES, Net, close, everywhere, forward, gradient, mode_of

import opwright
from opwright.mindspore import Custom

SHAPE = [2, 3]
FORMS = {
    "constants": ((SHAPE,), (ms.float32,)),
    "tuple of a tuple": ((tuple(SHAPE),), (ms.float32,)),
    "functions": (lambda x: (x,), lambda x: (x,)),
    "function of the shape": (lambda x: (x,), (ms.float32,)),
    "function of the dtype": ((SHAPE,), lambda x: (x,)),
}
# Of which MindSpore makes a list in one mode and a tuple in another, or nothing.
BARE = {
    "lists": ([SHAPE], [ms.float32]),
    "functions of lists": (lambda x: [x], lambda x: [x]),
    "tuple of the shape": ((SHAPE,), ms.float32),
    "tuple of the dtype": (SHAPE, (ms.float32,)),
}


def square(x):
    return x * x


def rule(x, out, dout):
    return (2 * x * dout[0] + 0 * out[0],)


def bare_rule(x, out, dout):
    return (2 * x * dout + 0 * out,)


KINDS = ("pyfunc", "ours", "foreign")


def make(kind, built, folder, form, bprop=None, cls=Custom):
    if kind == "pyfunc":
        return cls(square, *form, "pyfunc", bprop=bprop)
    if kind == "foreign":
        return cls(misuse.foreign(folder) + ":twice", *form, "aot", bprop=bprop)
    return cls(built("elementwise") + ":square", *form, "aot", bprop=bprop)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", KINDS)
def test_one_output_in_a_tuple_is_a_tuple_with_its_rule(built, tmp_path, kind, form):
    op = make(kind, built, tmp_path, FORMS[form], rule)
    x = draw(*SHAPE, dtype=ms.float32)
    due = 2 * wide(x) if kind == "foreign" else wide(x) ** 2
    made = everywhere(op, (x,), None)
    assert isinstance(made.values, tuple)
    close(made.values, [due])
    close(made.gradients, [2 * wide(x) * (np.arange(6) % 7 - 2.5).reshape(SHAPE)])


@pytest.mark.parametrize("mode", FORWARD)
def test_as_mindspores_own(built, tmp_path, mode):
    x = draw(*SHAPE, dtype=ms.float32)
    for kind in KINDS:
        for cls in (ms.ops.Custom, Custom):
            op = make(kind, built, tmp_path, FORMS["constants"], None, cls)
            made = forward(op, (x,), mode)
            assert isinstance(made, tuple) and len(made) == 1


@pytest.mark.parametrize("form", BARE)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_no_two_tuples_of_one_is_bare(built, tmp_path, kind, form):
    op = make(kind, built, tmp_path, BARE[form], bare_rule)
    x = draw(*SHAPE, dtype=ms.float32)
    made = everywhere(op, (x,), None)
    assert isinstance(made.values, Tensor)
    close(made.gradients, [2 * wide(x) * (np.arange(6) % 7 - 2.5).reshape(SHAPE)])


@pytest.mark.parametrize("form", FORMS)
def test_the_backward_operator_is_taken(built, tmp_path, form):
    op = make("ours", built, tmp_path, FORMS[form])
    x = draw(*SHAPE, dtype=ms.float32)
    made = everywhere(op, (x,), None)
    close(made.values, [wide(x) ** 2])
    close(made.gradients, [2 * wide(x) * (np.arange(6) % 7 - 2.5).reshape(SHAPE)])


@pytest.mark.parametrize("mode", MODES)
def test_a_rule_that_is_bound_to_the_operator_takes_bare_tensors(built, mode):
    operator = opwright.mindspore.op(built("elementwise"), "square", bprop=bare_rule)
    op = Custom(operator, *FORMS["constants"])
    x = draw(*SHAPE, dtype=ms.float32)

    def loss(x):
        return op(x)[0].sum() + operator(x).sum()

    try:
        close(gradient(loss, (x,), None, mode), [4 * wide(x)])
    finally:
        operator.bprop(None)  # other tests have the operator too


@pytest.mark.parametrize("mode", ["graph", "jit"])
def test_a_shape_that_is_known_at_run_time_only_wants_the_bare_one(built, mode):
    described = Tensor(shape=[None, 3], dtype=ms.float32)
    op = Custom(built("elementwise") + ":square", *FORMS["functions"], "aot")

    def first(x):
        return op(x)[0]

    with mode_of(mode), pytest.raises(opwright.ShapeError, match=r"bare shape.*\[CL004\]"):
        if mode == "graph":
            net = Net(first)
            net.set_inputs(described)
        else:
            net = ms.enable_dynamic(x=described)(ms.jit(first))
        net(draw(2, 3, dtype=ms.float32))


@pytest.mark.parametrize("mode", MODES)
def test_no_gradient_is_told_as_of_a_bare_one(built, tmp_path, mode):
    op = make("pyfunc", built, tmp_path, FORMS["constants"])

    def loss(x):
        return op(x)[0].sum()

    with pytest.raises(opwright.GradientError, match=r"square has no gradient.*\[GR001\]"):
        gradient(loss, (draw(*SHAPE, dtype=ms.float32),), None, mode)


def dout_as_it_is(x, out, dout):
    if x.ndim == 1:
        return dout
    return (2 * x * dout[0],)


def test_dout_that_is_a_tuple_may_be_returned_as_it_is(built):
    op = Custom(built("elementwise") + ":square", (SHAPE,), (ms.float32,), "aot", dout_as_it_is)
    x = draw(*SHAPE, dtype=ms.float32)

    def loss(x):
        return op(x)[0].sum()

    for mode in MODES:
        close(gradient(loss, (x,), None, mode), [2 * wide(x)])

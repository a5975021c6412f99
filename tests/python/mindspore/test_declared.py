# SPDX-License-Identifier: Apache-2.0
"""Outputs that a Custom declares: every form of them, and those that are not the operator's."""

import re

import mindspore as ms
import numpy as np
import pytest
import torch
from calls import draw, wide
from mindspore import Tensor
from modes import FORWARD, MODES, close, everywhere, flat, forward, gradient

import opwright
from opwright.mindspore import Custom


def fused(x, b, s):
    return (x + b) * s


@pytest.fixture
def inputs():
    return draw(2, 3, 4, dtype=ms.float32), draw(4, dtype=ms.float32), draw(4, dtype=ms.float32)


def shapes_first(*shapes):
    return shapes[0]


DECLARED = {
    "functions": (lambda x, b, s: x, lambda x, b, s: x),
    "list": ([2, 3, 4], ms.float32),
    "tuple": ((2, 3, 4), ms.float32),
    "one-element lists": ([[2, 3, 4]], [ms.float32]),
    "one-element list of a dtype": ([2, 3, 4], [ms.float32]),
    "tuples of one": (([2, 3, 4],), (ms.float32,)),
    "function and constant": (lambda x, b, s: x, ms.float32),
    "constant and function": ([2, 3, 4], lambda x, b, s: x),
    "function of any": (shapes_first, shapes_first),
    "numpy's integers": (list(np.array([2, 3, 4])), ms.float32),
    "function that gives numpy's integers": (lambda x, b, s: list(np.array(x)), lambda x, b, s: x),
    "function that gives lists": (lambda x, b, s: [x], lambda x, b, s: [ms.float32]),
}


@pytest.mark.parametrize("form", DECLARED)
def test_declared_outputs_are_taken_in_every_form(built, inputs, form):
    shape, dtype = DECLARED[form]
    path = built("fused_add_scale") + ":fused_add_scale"
    op = Custom(path, shape, dtype, "aot")
    close(everywhere(op, inputs).values, fused(*map(wide, inputs)))
    op = Custom(path, out_dshape=shape, out_dtype=dtype, func_type="aot")
    close(everywhere(op, inputs, modes=("jit",)).values, fused(*map(wide, inputs)))


def test_pyfunc_takes_a_shape_of_numpys_integers():
    x = draw(2, 3, dtype=ms.float32)
    op = Custom(lambda a: a.reshape(-1), lambda x: [np.prod(x)], lambda x: x, "pyfunc")
    close(everywhere(op, (x,)).values, wide(x).reshape(-1))


def test_out_shape_and_out_dshape_are_one_argument(built):
    path = built("fused_add_scale") + ":fused_add_scale"
    with pytest.raises(opwright.ShapeError, match=r"out_dshape.*\[CL020\]"):
        Custom(path, [2], ms.float32, "aot", out_dshape=[2])


@pytest.mark.parametrize("mode", FORWARD)
@pytest.mark.parametrize(
    ("shape", "dtype"),
    [
        ([2, 3], ms.float32),
        (lambda x, b, s: b, lambda x, b, s: x),
        (lambda x, b, s: x, ms.float16),
        ([2, 3, 4], ms.float64),
        ([[2, 3, 4], [1]], [ms.float32, ms.float32]),
    ],
    ids=["rank", "shape", "float16", "float64", "two outputs"],
)
def test_declared_outputs_that_are_not_the_operators_are_refused(built, inputs, mode, shape, dtype):
    path = built("fused_add_scale") + ":fused_add_scale"
    with pytest.raises(opwright.ShapeError, match=r"(?s)fused_add_scale.*\[CL020\]"):
        forward(Custom(path, shape, dtype, "aot"), inputs, mode)


def test_several_outputs_may_be_declared(built):
    op = Custom(
        built("several") + ":parts",
        lambda x: (x, [x[1]], []),
        lambda x: (x, ms.int32, ms.float64),
        "aot",
    )
    x = draw(2, 3, dtype=ms.float32)
    made = everywhere(op, (x,), None)
    close(made.values, [2 * wide(x), np.floor(wide(x) + 0.5).sum(0), wide(x).sum()])
    close(made.gradients, 2 * (np.arange(6) % 7 - 2.5).reshape(2, 3) - 2.5)


@pytest.mark.parametrize("order", [1, -1])
def test_four_operators_of_one_name_with_other_declared_outputs(order):  # infer cache
    """MindSpore remembers what it inferred by the operator's name and attributes."""

    def numbers(x):
        return np.arange(12, dtype=np.float64)

    kinds = [((3, 4), ms.float32), ((12,), ms.float32), ((2, 6), ms.float64), ((12,), ms.int32)]

    def make(shape, dtype):
        def same_name(x):
            return numbers(x).reshape(shape).astype(ms.dtype_to_nptype(dtype))

        return Custom(same_name, list(shape), dtype, "pyfunc")

    x = Tensor(np.ones(2), ms.float32)
    made = [(shape, dtype, make(shape, dtype)) for shape, dtype in kinds][::order]
    for mode in ("pynative", "jit", "graph"):
        for shape, dtype, op in made:
            result = forward(op, (x,), mode)
            assert (tuple(result.shape), result.dtype) == (shape, dtype)
            close(result, np.arange(12.0).reshape(shape))


@pytest.mark.parametrize("order", [1, -1])
def test_four_aot_operators_of_one_func_string(built, order):
    path = built("elementwise") + ":square"
    x = draw(2, 3, dtype=ms.float32)
    wrong, right = ([3, 2], ms.float32), ([2, 3], ms.float32)
    forms = [right, wrong, (lambda s: s, lambda d: d), ([2, 3], ms.float16)][::order]
    for mode in ("pynative", "jit", "graph"):
        verdicts = []
        for shape, dtype in forms:
            op = Custom(path, shape, dtype, "aot")
            try:
                close(forward(op, (x,), mode), wide(x) ** 2)
                verdicts.append("right")
            except opwright.Error:
                verdicts.append("refused")
        assert verdicts == ["right", "refused", "right", "refused"][::order], mode


def test_gradients_of_declared_operators_are_those_of_undeclared_ones(built, inputs):
    path = built("fused_add_scale") + ":fused_add_scale"
    plain, declared = Custom(path, func_type="aot"), Custom(path, shapes_first, shapes_first, "aot")

    def loss_of(op):
        def loss(x, b, s):
            return op(x, b, s).sum()

        return loss

    for mode in MODES:
        for made, due in zip(
            flat(gradient(loss_of(declared), inputs, None, mode)),
            flat(gradient(loss_of(plain), inputs)),
            strict=True,
        ):
            close(made, due.asnumpy(), 0)


def sine(x):
    return np.sin(x)


NO_SHAPES = {
    "first": [-1, 3],
    "last": [4, -1],
    "any rank": [-2],
    "one of two": ([4, 3], [4, -1]),
    "function": lambda x: [-1, 3],
    "function of several": lambda x: ([4, 3], [-1]),
}


@pytest.mark.parametrize("mode", FORWARD)
@pytest.mark.parametrize("form", NO_SHAPES)
@pytest.mark.parametrize("kind", ["pyfunc", "ours"])
def test_a_negative_dimension_is_refused(built, kind, form, mode):
    func = sine if kind == "pyfunc" else built("elementwise") + ":square"
    shape = NO_SHAPES[form]
    dtype = (ms.float32, ms.float32) if "two" in form or "several" in form else ms.float32
    words = r"(out_shape is|out_shape returned is) [\[(].*-[12].*not negative.*\[CL020\]"
    with pytest.raises(opwright.ShapeError, match=words):
        op = Custom(func, shape, dtype, "pyfunc" if kind == "pyfunc" else "aot")
        forward(op, (draw(4, 3, dtype=ms.float32),), mode)


NO_DTYPES = {
    "class of numpy": (np.float32, "is numpy.float32; a mindspore dtype is due: mindspore.float32"),
    "numpy": (np.dtype("int8"), r"is dtype('int8'); a mindspore dtype is due: mindspore.int8"),
    "bool of numpy": (
        np.bool_,
        f"is numpy.{np.bool_.__name__}; a mindspore dtype is due: mindspore.bool_",
    ),
    "torch": (torch.bfloat16, "is torch.bfloat16; a mindspore dtype is due: mindspore.bfloat16"),
    "Python": (float, "is float; a mindspore dtype is due: mindspore.float64"),
    "text": ("float32", "is 'float32'; a mindspore dtype is due: mindspore.float32"),
    "list": ([np.float32], "is [numpy.float32]; a mindspore dtype is due: mindspore.float32"),
    "one of two": (
        (ms.float32, np.float64),
        "is (Float32, numpy.float64); a mindspore dtype is due: "
        "(mindspore.float32, mindspore.float64)",
    ),
    "other text": ("real", "is 'real'; a mindspore dtype is due, or a tuple"),
    "number": (32, "is 32; a mindspore dtype is due, or a tuple"),
}


@pytest.mark.parametrize("form", NO_DTYPES)
def test_what_is_no_dtype_of_mindspore_is_named(built, form):
    dtype, words = NO_DTYPES[form]
    words = re.escape("out_dtype " + words) + r".*\[CL020\]"
    for func, kind in ((sine, "pyfunc"), (built("elementwise") + ":square", "aot")):
        with pytest.raises(opwright.ShapeError, match=words):
            Custom(func, [4, 3], dtype, kind)


@pytest.mark.parametrize("mode", FORWARD)
def test_a_function_that_returns_no_dtype_is_named(built, mode):
    def numpys(x):
        return np.float32

    words = r"function out_dtype returned is numpy\.float32; .*: mindspore\.float32 \[CL020\]"
    for func, kind in ((sine, "pyfunc"), (built("elementwise") + ":square", "aot")):
        with pytest.raises(opwright.ShapeError, match=words):
            forward(Custom(func, [4, 3], numpys, kind), (draw(4, 3, dtype=ms.float32),), mode)

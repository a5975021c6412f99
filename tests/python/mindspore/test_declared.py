# SPDX-License-Identifier: Apache-2.0
"""Outputs that a Custom declares: every form of them, and those that are not the operator's."""

import mindspore as ms
import numpy as np
import pytest
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

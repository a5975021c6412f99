# SPDX-License-Identifier: Apache-2.0
"""Values that are no tensors: the same words in every mode, of `lib.op` and of a `Custom`."""

import mindspore as ms
import numpy as np
import pytest
import torch
from calls import draw
from modes import FORWARD, forward

import opwright
from opwright.mindspore import Custom

NO_TENSOR = {
    "text": ("t", r"linear: input w is given str, a tensor or a number is due"),
    "dict": ({"w": 1}, r"linear: input w is given dict, a tensor or a number is due"),
    "None": (None, r"linear: input w is required and was not given: it is None, or of another"),
}


@pytest.mark.parametrize("mode", FORWARD)
@pytest.mark.parametrize("kind", NO_TENSOR)
def test_what_is_no_tensor_is_named(libraries, kind, mode):
    linear = libraries("inputs").linear
    value, words = NO_TENSOR[kind]

    def call(x):
        return linear(x, value)

    with pytest.raises(opwright.Error, match=words):
        forward(call, (draw(2, 2),), mode)


@pytest.mark.parametrize("mode", FORWARD)
def test_an_input_left_out_is_named(libraries, mode):
    linear = libraries("inputs").linear

    def call(x):
        return linear(x)

    with pytest.raises(opwright.Error, match="linear: input w is required and was not given"):
        forward(call, (draw(2, 2),), mode)


X = draw(2, 3, dtype=ms.float32)
IS = "a tensor or a number is due"
NO_INPUT = {
    "list of numbers": ([1.0, 2.0], f"square: input x is given list, {IS}", "CL013"),
    "tuple of numbers": ((1.0,), f"square: input x is given tuple, {IS}", "CL013"),
    "empty list": ([], f"square: input x is given list, {IS}", "CL013"),
    "list of a tensor": ([X], f"square: input x is given list, {IS}", "CL013"),
    "list of tensors": ([X, X], f"square: input x is given list, {IS}", "CL013"),
    "list of texts": (["a"], f"square: input x is given list, {IS}", "CL013"),
    "text": ("a", f"square: input x is given str, {IS}", "CL013"),
    "dict": ({"a": 1}, f"square: input x is given dict, {IS}", "CL013"),
    "None": (None, "square: input x is required and was not given", "CL001"),
}
NO_LIST = {
    "empty list": ([], "sum_all: the list xs is empty, one tensor or more are due", "CL001"),
    "tensor": (X, "sum_all: input xs takes a list of tensors", "CL001"),
    "text": ("a", "sum_all: input xs takes a list of tensors", "CL001"),
    "number": (2.0, "sum_all: input xs takes a list of tensors", "CL001"),
    "list of texts": (["a"], "sum_all: .*(xs is given str in its list|xs.0. is a text)", None),
}
CASES = {f"square {key}": ("elementwise", "square", *case) for key, case in NO_INPUT.items()}
CASES |= {f"sum_all {key}": ("inputs", "sum_all", *case) for key, case in NO_LIST.items()}


@pytest.mark.parametrize("mode", FORWARD)
@pytest.mark.parametrize("how", ["load", "Custom"])
@pytest.mark.parametrize("case", CASES)
def test_every_route_says_the_same(libraries, how, case, mode):
    group, name, value, words, code = CASES[case]
    op = libraries(group)[name]
    op = Custom(op) if how == "Custom" else op
    rest = (None,) if name == "sum_all" and how == "Custom" else ()

    def call():
        return op(value, *rest)

    with pytest.raises(opwright.Error, match=words) as caught:
        forward(call, (), mode)
    assert code in (None, caught.value.code)


def test_tensors_of_two_frameworks_are_named(libraries):
    add = libraries("element_add").element_add
    of_torch = torch.ones(2, 3)
    words = "(mindspore.*torch|torch.*mindspore).*convert them to one framework.*CL013"
    for given in ((X, of_torch), (of_torch, X)):
        with pytest.raises(opwright.DTypeError, match=words):
            add(*given)
    with pytest.raises(opwright.DTypeError, match=r"mindspore and numpy in one call.*CL013"):
        add(X, np.ones((2, 3), np.float32))

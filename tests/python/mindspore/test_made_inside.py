# SPDX-License-Identifier: Apache-2.0
"""opwright.mindspore.op(...) inside of what MindSpore compiles is told to go outside."""

import inspect

import pytest
from calls import draw, wide
from modes import close, forward

import opwright

WORDS = r"make the operator outside of ms\.jit and construct.*\[CL021\]"


@pytest.mark.parametrize("mode", ["jit", "graph"])
@pytest.mark.parametrize("form", ["operator", "name", "rule"])
def test_an_operator_made_while_compiling_is_told_to_be_made_outside(libraries, form, mode):
    library = libraries("elementwise")
    square = library.square

    def rule(x, out, dout):
        return (2 * x * dout,)

    def of_operator(x):
        return opwright.mindspore.op(square)(x)

    def by_name(x):
        return opwright.mindspore.op("libelementwise.so", "square")(x)

    def with_rule(x):
        return opwright.mindspore.op(square, bprop=rule)(x)

    made = {"operator": of_operator, "name": by_name, "rule": with_rule}[form]
    with pytest.raises(opwright.Error, match=WORDS):
        forward(made, (draw(3),), mode)


def test_in_pynative_mode_it_is_made_inside(libraries):
    square = libraries("elementwise").square
    x = draw(3)
    close(forward(lambda x: opwright.mindspore.op(square)(x), (x,)), wide(x) ** 2)
    parameters = inspect.signature(opwright.mindspore.op).parameters
    assert list(parameters) == ["operator", "name", "bprop"]

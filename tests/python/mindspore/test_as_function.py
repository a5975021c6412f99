# SPDX-License-Identifier: Apache-2.0
"""An operator itself where MindSpore takes a function: differentiated, compiled, mapped."""

import mindspore as ms
import numpy as np
import pytest
from calls import draw, wide
from modes import FORWARD, Net, close, mode_of

from opwright.mindspore import Custom


def first_of(x, *rest):
    return x


def rule(x, y, out, dout):
    return dout * y, dout * x


@pytest.fixture(params=["Custom", "operator", "Python function"])
def product(request, libraries):
    """x * y."""
    operator = libraries("product").product
    if request.param == "operator":
        operator.bprop(rule)
        return operator
    if request.param == "Custom":
        return Custom(operator, bprop=rule)
    return Custom(np.multiply, first_of, first_of, "pyfunc", rule)


FORMS = {"itself": lambda op: op, "__call__": lambda op: op.__call__}


GRADIENTS = {
    "grad": lambda f: ms.grad(f, (0, 1)),
    "value_and_grad": lambda f: lambda x, y: ms.value_and_grad(f, (0, 1))(x, y)[1],
    "grad of jit": lambda f: ms.grad(ms.jit(f), (0, 1)),
    "jit of grad": lambda f: ms.jit(ms.grad(f, (0, 1))),
    "grad of a cell": lambda f: ms.grad(Net(f), (0, 1)),
    "vjp": lambda f: lambda x, y: ms.vjp(f, x, y)[1](ms.ops.ones_like(x)),
}
VALUES = {
    "call": lambda f: f,
    "jit": ms.jit,
    "cell": Net,
    "vmap": ms.vmap,
    "jvp": lambda f: lambda x, y: ms.jvp(f, (x, y), (ms.ops.zeros_like(x), y))[1],
}


@pytest.mark.parametrize("mode", ["pynative", "graph"])
@pytest.mark.parametrize("form", FORMS)
def test_an_operator_is_a_function(product, form, mode):
    f = FORMS[form](product)
    for shape in ((2, 3), (4,)):
        x, y = draw(*shape), draw(*shape)
        with mode_of(mode):
            for name, use in GRADIENTS.items():
                if name != "vjp" or mode == "pynative":
                    close(use(f)(x, y), [wide(y), wide(x)])
            for use in VALUES.values():
                close(use(f)(x, y), wide(x) * wide(y))


def test_two_operators_of_one_name_are_two_functions(libraries):
    operator = libraries("elementwise").power
    square, cube = Custom(operator), Custom(operator)
    square.add_prim_attr("exponent", 2)
    cube.add_prim_attr("exponent", 3)
    x = draw(5)
    for _ in range(2):
        for op, due in ((square, 2 * wide(x)), (cube, 3 * wide(x) ** 2)):
            close(ms.grad(op)(x), due)
            close(ms.grad(ms.jit(op))(x), due)


@pytest.mark.parametrize("mode", FORWARD)
def test_a_refusal_has_the_same_words(libraries, mode):
    op = Custom(libraries("product").product, bprop=lambda x, y, out, dout: (dout,))
    x = draw(3)
    with (
        mode_of(mode),
        pytest.raises(RuntimeError, match=r"product: the bprop returned 1 gradient"),
    ):
        ms.grad(ms.jit(op) if mode == "jit" else op, (0, 1))(x, x)


def test_torch_compiles_operators_as_before(libraries):
    torch = pytest.importorskip("torch")
    op = libraries("elementwise").square
    x = torch.arange(3.0)

    def method(x):
        return op.__call__(x)

    for f in (op, op.__call__, method):
        torch.testing.assert_close(torch.compile(f, backend="eager", fullgraph=True)(x), x * x)

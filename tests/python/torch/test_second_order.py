# SPDX-License-Identifier: Apache-2.0
"""Second derivatives where an input needs no gradient: the first backward leaves its output out."""

import pytest
import torch
from calls import assert_same, draw

import opwright

REFERENCES = {
    "product": lambda a, b: a * b,
    "product_absent": lambda a, b: a * b,
    "growth": lambda a, b: a.exp() * b,
}


def second(function, a, b):
    """The gradients, by those inputs that require one, of the sum of the first gradients."""
    leaves = [t for t in (a, b) if t.requires_grad]
    first = torch.autograd.grad((function(a, b) ** 2).sum(), leaves, create_graph=True)
    return torch.autograd.grad(sum(g.sum() for g in first), leaves)


@pytest.mark.parametrize("needs", [(True, False), (False, True), (True, True)], ids=str)
@pytest.mark.parametrize("name", REFERENCES)
def test_a_frozen_input_leaves_the_second_derivative_right(libraries, name, needs):  # G04 G12
    op = getattr(libraries("second"), name)
    a, b = (draw(2, 3, grad=need) for need in needs)
    assert_same(second(op, a, b), second(REFERENCES[name], a, b))


@pytest.mark.parametrize("name", REFERENCES)
def test_nested_transforms_leave_the_second_derivative_right(libraries, name):
    op, reference = getattr(libraries("second"), name), REFERENCES[name]
    a, b = draw(3), draw(3)

    def hessians(function):
        def of_a(a):
            return function(a, b).sum() ** 2

        yield torch.func.jacrev(torch.func.jacrev(of_a))(a)
        yield torch.func.grad(lambda a: torch.func.grad(of_a)(a).sum())(a)
        yield torch.autograd.functional.hessian(of_a, a)
        yield torch.autograd.functional.hessian(of_a, a, vectorize=True)

    assert_same(list(hessians(op)), list(hessians(reference)))


@pytest.mark.parametrize("name", REFERENCES)
def test_compiled_second_derivatives_are_right(libraries, name):
    op, reference = getattr(libraries("second"), name), REFERENCES[name]
    b = draw(3)

    def nested(function):
        inner = torch.func.grad(lambda a: (function(a, b) ** 2).sum())
        return torch.func.grad(lambda a: inner(a).sum())

    compiled = torch.compile(nested(op), fullgraph=True, backend="aot_eager")
    a = draw(3)
    assert_same(compiled(a), nested(reference)(a))
    a = draw(5)
    b = draw(5)
    torch._dynamo.reset()
    compiled = torch.compile(nested(op), fullgraph=True, dynamic=True, backend="aot_eager")
    assert_same(compiled(a), nested(reference)(a))


def test_an_absent_input_has_no_gradient_to_be_zeros(libraries):
    offset = libraries("second").offset
    a, c = draw(3, grad=True), draw(1)
    assert_same(
        second(offset, a, c), second(lambda a, c: a * a + c, a, c)
    )  # frozen, of another shape
    (first,) = torch.autograd.grad(offset(a).sum(), a, create_graph=True)
    with pytest.raises(
        opwright.ShapeError, match=r"offset_grad.*grad_c.*offset_third.*optional.*CL005"
    ):
        first.sum().backward()


def test_a_rule_of_the_backward_operator_sees_every_output(libraries):
    library = libraries("second")
    kept = opwright._operator._bprops.copy()
    shapes = []

    @library.product_grad.bprop
    def rule(a, b, grad_y, out, dout):
        shapes.append([tuple(t.shape) for t in (*out, *dout)])
        assert_same(out, (grad_y * b, grad_y * a))
        return dout[1] * grad_y, dout[0] * grad_y, dout[0] * b + dout[1] * a

    try:
        a, b = draw(3, grad=True), draw(3)
        assert_same(second(library.product, a, b), second(REFERENCES["product"], a, b))
        assert shapes == [[(3,)] * 4]
    finally:
        opwright._operator._bprops.clear()
        opwright._operator._bprops.update(kept)


def test_nothing_more_is_computed_without_a_second_derivative(libraries):  # G04
    growth = libraries("second").growth
    a, b = draw(3, grad=True), draw(3)
    made = []
    plain = torch.ops.opwright.growth_grad.default

    class Watch(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            if func is plain:
                made.append(list(kwargs["_wanted"]))
            return func(*args, **(kwargs or {}))

    with Watch():
        torch.autograd.grad(growth(a, b).sum(), a)
        torch.autograd.grad(growth(a, b).sum(), a, create_graph=True)
    assert made == [[True, False], [True, True]]

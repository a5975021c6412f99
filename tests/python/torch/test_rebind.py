# SPDX-License-Identifier: Apache-2.0
"""What was compiled before a rule was bound takes it from the next call on."""

import pytest
import torch
from operator_libraries import write_operator
from sources import GROUPS

import opwright

X = torch.arange(1.0, 4.0)


@pytest.fixture
def library(tmp_path):
    """A library of element_add that no other test has bound or closed."""
    torch._dynamo.reset()
    definition, source = GROUPS["element_add"]
    marked = f"{source}\n// {tmp_path}\nextern const char mark[] = {str(tmp_path)!r};\n"
    folder = write_operator(tmp_path / "op", definition, marked.replace("'", '"'))
    return opwright.load(folder)


def times(number):
    return lambda x, y, out, dout: (dout * number, dout * (number + 1))


def gradients(function):
    x, y = X.clone().requires_grad_(), X.clone().requires_grad_()
    made = function(x, y)
    assert made.tolist() == (2 * X).tolist()
    made.sum().backward()
    return x.grad[0].item(), y.grad[0].item()


ROUTES = {"lib.op": lambda op: op, "torch.ops": lambda op: op._calls[torch.Tensor]._overload}


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("route", ROUTES)
def test_a_rule_bound_again_is_seen_by_what_was_compiled_before(library, route, backend):
    op = library.element_add
    call = ROUTES[route](op)
    compiled = torch.compile(lambda x, y: call(x, y), fullgraph=True, backend=backend)
    for number in (2, 5, 7):
        op.bprop(times(number))
        assert gradients(compiled) == gradients(call) == (number, number + 1)
        assert gradients(compiled) == (number, number + 1)


def test_a_rule_is_seen_where_there_was_none(library):
    op = library.element_add
    compiled = torch.compile(lambda x, y: op(x, y), fullgraph=True, backend="aot_eager")
    assert compiled(X, X).tolist() == (2 * X).tolist()
    op.bprop(times(3))
    assert gradients(compiled) == (3, 4)


def test_the_same_rule_again_compiles_nothing_anew(library):
    op = library.element_add
    counter = torch._dynamo.testing.CompileCounter()
    compiled = torch.compile(lambda x, y: op(x, y), fullgraph=True, backend=counter)
    rule = times(2)
    for _ in range(3):
        op.bprop(rule)
        compiled(X, X)
    assert counter.frame_count == 1


def test_a_rule_of_an_operator_that_was_never_traced_compiles_nothing_anew(library, libraries):
    op = library.element_add
    counter = torch._dynamo.testing.CompileCounter()
    compiled = torch.compile(lambda x, y: op(x, y), fullgraph=True, backend=counter)
    compiled(X, X)
    other = opwright.load(libraries("fused_broadcast").path).fused_broadcast
    other.bprop(lambda x, b, s, out, dout: (dout, None, None))
    opwright._operator._bprops.pop(other.key)
    compiled(X, X)
    assert counter.frame_count == 1


def test_compiled_autograd_takes_the_rule_of_each_forward(library):
    op = library.element_add
    for number in (2, 5):
        op.bprop(times(number))
        with torch._dynamo.compiled_autograd._enable(
            torch.compile(backend="aot_eager", fullgraph=True)
        ):
            assert gradients(op) == (number, number + 1)

# SPDX-License-Identifier: Apache-2.0
"""What was compiled before a rule was bound takes it from the next call on."""

import threading

import pytest
import torch
from operator_libraries import write_operator
from sources import GROUPS
from torch._dynamo.backends.debugging import aot_eager

import opwright

X = torch.arange(1.0, 4.0)


def library_of(group, tmp_path):
    """A library that no other test has bound or closed."""
    torch._dynamo.reset()
    definition, source = GROUPS[group]
    marked = f"{source}\n// {tmp_path}\nextern const char mark[] = {str(tmp_path)!r};\n"
    folder = write_operator(tmp_path / "op", definition, marked.replace("'", '"'))
    return opwright.load(folder)


@pytest.fixture
def library(tmp_path):
    return library_of("element_add", tmp_path)


@pytest.fixture
def elementwise(tmp_path):
    return library_of("elementwise", tmp_path)


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


@pytest.mark.parametrize("backend", ["eager", "aot_eager", "inductor"])
@pytest.mark.parametrize("route", ROUTES)
def test_a_rule_is_taken_off_again(elementwise, route, backend):
    """The compiled backward operator counts again, in what was compiled before too."""
    op = elementwise.square
    call = ROUTES[route](op)

    def gradient(function):
        x = X.clone().requires_grad_()
        function(x).sum().backward()
        return x.grad.tolist()

    before = torch.compile(lambda x: call(x), fullgraph=True, backend=backend)
    exact = (2 * X).tolist()
    assert gradient(before) == exact
    op.bprop(lambda x, out, dout: (dout * 7,))
    with_rule = torch.compile(lambda x: 1 * call(x), fullgraph=True, backend=backend)
    for function in (call, before, with_rule):
        assert gradient(function) == [7, 7, 7]
    kept = call(X.clone().requires_grad_())
    opwright.load(op._core.library_path).square.bprop(None)
    for function in (call, before, with_rule):
        assert gradient(function) == exact
    leaf = kept.grad_fn.next_functions[0][0].variable
    kept.sum().backward()
    assert leaf.grad.tolist() == [7, 7, 7], "a forward before has the rule of its time"


def test_without_rule_and_backward_operator_the_gradient_is_refused_again(library):
    op = library.element_add
    op.bprop(times(2))
    compiled = torch.compile(lambda x, y: op(x, y), backend="aot_eager")
    assert gradients(compiled) == gradients(op) == (2, 3)
    op.bprop(None)
    with pytest.raises(opwright.GradientError, match="GR001"):
        gradients(op)
    with pytest.raises(Exception, match="GR001"):
        gradients(compiled)


def test_a_rule_taken_off_where_there_is_none_compiles_nothing_anew(library):
    op = library.element_add
    counter = torch._dynamo.testing.CompileCounter()
    compiled = torch.compile(lambda x, y: op(x, y), fullgraph=True, backend=counter)
    for _ in range(3):
        op.bprop(None)
        compiled(X, X)
    assert counter.frame_count == 1


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
    other.bprop(None)
    compiled(X, X)
    assert counter.frame_count == 1


def test_a_rule_compiles_nothing_anew_that_is_without_its_operator(library):
    op = library.element_add
    counts = {}

    def compiled(name, function):
        counts[name] = torch._dynamo.testing.CompileCounter()
        return torch.compile(function, fullgraph=True, backend=counts[name])

    with_it = compiled("with it", lambda x: op(x, x) + 1)
    alike = compiled("alike", eval("lambda x: op(x, x) + 1", {"op": op}))
    twin = compiled("twin", eval("lambda x: op(x, x) + 1", {"op": op}))
    without = compiled("without", lambda x: x + 1)
    for number in (2, 3):
        op.bprop(times(number))
        op(X.to("meta"), X.to("meta"))  # which is no compilation
        for call in (with_it, alike, twin, without):
            call(X)
    made = {name: count.frame_count for name, count in counts.items()}
    assert made == {"with it": 2, "alike": 2, "twin": 2, "without": 1}


def test_a_rule_bound_while_another_thread_compiles_is_taken(library):
    op = library.element_add
    op.bprop(times(2))
    traced, go = threading.Event(), threading.Event()

    def backend(graph, examples):
        traced.set()
        go.wait(60)
        return aot_eager(graph, examples)

    compiled = torch.compile(lambda x, y: op(x, y), fullgraph=True, backend=backend)
    compiling = threading.Thread(target=gradients, args=(compiled,))
    binding = threading.Thread(target=op.bprop, args=(times(5),))
    compiling.start()
    assert traced.wait(60)
    binding.start()
    go.set()
    compiling.join(), binding.join()
    assert gradients(compiled) == (5, 6)


def test_a_rule_is_bound_many_times_without_an_end_of_compiling(library):
    op = library.element_add
    compiled = torch.compile(lambda x, y: op(x, y), fullgraph=True, backend="aot_eager")
    for number in range(20):
        op.bprop(times(number))
        assert gradients(compiled) == (number, number + 1)


def test_compiled_autograd_takes_the_rule_of_each_forward(library):
    op = library.element_add
    for number in (2, 5):
        op.bprop(times(number))
        with torch._dynamo.compiled_autograd._enable(
            torch.compile(backend="aot_eager", fullgraph=True)
        ):
            assert gradients(op) == (number, number + 1)

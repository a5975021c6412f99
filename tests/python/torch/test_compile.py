# SPDX-License-Identifier: Apache-2.0
"""Tracing: torch.compile, opcheck, export, vmap; fake outputs against real ones."""

import pytest
import torch
from calls import CASES, WITH_GRADIENT, assert_same, draw, scattered, tensors
from torch._dynamo.testing import CompileCounter
from torch._subclasses.fake_tensor import FakeTensorMode

import opwright


@pytest.fixture(autouse=True)
def fresh_dynamo():
    torch._dynamo.reset()


def overload(libraries, case):
    libraries(case.group)
    return getattr(torch.ops.opwright, case.operator).default


@pytest.mark.parametrize("case", CASES, ids=str)
def test_opcheck(libraries, case):
    results = torch.library.opcheck(overload(libraries, case), case.floats(), case.attrs)
    assert set(results.values()) == {"SUCCESS"}
    assert len(results) == 4


@pytest.mark.parametrize("case", CASES, ids=str)
def test_opcheck_of_strided_inputs(libraries, case):
    inputs = tuple(scattered(value) for value in case.floats())
    results = torch.library.opcheck(overload(libraries, case), inputs, case.attrs)
    assert set(results.values()) == {"SUCCESS"}


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_compiled_values_and_gradients_are_the_native_ones(libraries, case, dynamic):
    op = libraries(case.group)[case.operator]

    def run(function, inputs):
        made = tensors(function(*inputs))
        if not case.gradient:
            return made
        loss = sum((t * t).sum() for t in made if t.is_floating_point())
        floats = [t for t in tensors(inputs) if t.is_floating_point()]
        return [*made, *torch.autograd.grad(loss, floats)]

    compiled = torch.compile(
        lambda *inputs: op(*inputs, **case.attrs), fullgraph=True, dynamic=dynamic
    )
    inputs = case.floats()
    expected = run(lambda *given: case.reference(*given, **case.attrs), inputs)
    assert_same(run(compiled, inputs), expected)
    assert_same(run(compiled, tuple(scattered(value) for value in inputs)), expected)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_fake_outputs_have_the_real_shape_dtype_and_strides(libraries, case):  # J01 J02
    op = overload(libraries, case)
    plain = case.inputs()
    variants = [
        plain,
        tuple(scattered(value) for value in plain),
        case.floats(),
        case.inputs(),
        case.inputs(),
    ]
    for inputs in variants:
        real = tensors(op(*inputs, **case.attrs))
        with FakeTensorMode() as mode:

            def fake(value, mode=mode):
                if isinstance(value, list):
                    return [fake(item) for item in value]
                return mode.from_tensor(value) if isinstance(value, torch.Tensor) else value

            made = tensors(op(*map(fake, inputs), **case.attrs))
        assert len(made) == len(real)
        for guess, is_so in zip(made, real, strict=True):
            assert (guess.shape, guess.dtype, guess.stride(), guess.device) == (
                is_so.shape, is_so.dtype, is_so.stride(), is_so.device
            )  # fmt: skip


@pytest.mark.parametrize(
    ("group", "name", "make"),
    [
        ("elementwise", "square", lambda n: (draw(n, 3),)),
        ("fused_broadcast", "fused_broadcast", lambda n: (draw(n, 3), draw(3), draw(n, 1))),
        ("fused_add_scale", "fused_add_scale", lambda n: (draw(n, 5), draw(5), draw(5))),
        ("inputs", "linear", lambda n: (draw(n, 4), draw(4, 5), draw(5))),
        ("inputs", "sum_squares", lambda n: ([draw(n, 2), draw(n, 2)],)),
        ("inputs", "scale_each", lambda n: ([draw(n), draw(3, n)],)),
        ("inputs", "add_weighted", lambda n: ([draw(n, 2), draw(n, 2)],)),
        ("inputs", "greatest", lambda n: (draw(n, 4),)),
        ("shapes", "repeat_rows", lambda n: (draw(n, 3),)),
        ("shapes", "total", lambda n: (draw(n, 3),)),
    ],
)
def test_changing_sizes_compile_once(libraries, group, name, make):
    op = libraries(group)[name]
    counter = CompileCounter()
    compiled = torch.compile(op, backend=counter, fullgraph=True, dynamic=True)
    for n in (6, 7, 9, 13, 20):
        inputs = make(n)
        assert_same(compiled(*inputs), op(*inputs))
    assert counter.frame_count == 1


def test_a_frozen_input_stays_free_under_compile(libraries):  # G04
    probe = libraries("effects").probe
    x, w, v = draw(3, grad=True), draw(3), draw(3, grad=True)
    compiled = torch.compile(probe, fullgraph=True)
    y = compiled(x, w, v)
    before = torch.ops.opwright.call_counts().tolist()
    y.sum().backward()
    after = torch.ops.opwright.call_counts().tolist()
    assert [b - a for a, b in zip(before, after, strict=True)] == [1, 0, 1]
    assert_same(x.grad, w)
    assert w.grad is None


def test_numbers_and_names_trace(libraries):
    fused = libraries("fused_broadcast").fused_broadcast
    linear = libraries("inputs").linear
    x, w, bias = draw(3, 3), draw(3, 4), draw(4)
    for dynamic in (None, True):
        compiled = torch.compile(lambda x: fused(x, 2, 0.5), fullgraph=True, dynamic=dynamic)
        assert_same(compiled(x), (x + 2) * 0.5)
    compiled = torch.compile(lambda x, w, bias: linear(x, w, bias=bias, alpha=2.0), fullgraph=True)
    assert_same(compiled(x, w, bias), 2 * (x @ w) + bias)
    compiled = torch.compile(lambda x, w, bias: linear(x=x, w=w, bias=bias), fullgraph=True)
    assert_same(compiled(x, w, bias), x @ w + bias)


def test_attributes_trace(libraries):
    tell = libraries("attributes").tell
    x = torch.ones(1, dtype=torch.float64)
    attrs = {
        "count": 2,
        "label": "four",
        "rows": [[1], [2, 3]],
        "names": ["a"],
        "steps": [4],
        "kind": "int8",
    }
    compiled = torch.compile(lambda x: tell(x, **attrs), fullgraph=True)
    assert_same(compiled(x), tell(x, **attrs))


@pytest.mark.parametrize(
    ("given", "words"), [({"ration": 1.0}, "named ration"), ({"flag": 1}, "attribute flag is bool")]
)
def test_a_wrong_attribute_says_the_same_compiled(libraries, given, words):
    tell = libraries("attributes").tell
    x = torch.ones(1, dtype=torch.float64)
    for fullgraph, kind in ((False, opwright.DTypeError), (True, Exception)):
        torch._dynamo.reset()
        compiled = torch.compile(
            lambda x: tell(x, count=2, label="", rows=[], **given), fullgraph=fullgraph
        )
        with pytest.raises(kind, match=words):
            compiled(x)


def test_a_list_first_traces(libraries):
    sum_squares = libraries("inputs").sum_squares
    compiled = torch.compile(lambda a, b: sum_squares([a, b]), fullgraph=True)
    a, b = draw(3), draw(3)
    assert_same(compiled(a, b), a * a + 2 * b * b)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda libraries, x: libraries("element_add").element_add(x, x), "CL002"),
        (lambda libraries, x: libraries("inputs").linear(x, x[:, :2]), r"k = 3 \(from x\), got 2"),
        (lambda libraries, x: libraries("shapes").outer_flat(x, x), "rank 1 expected, got 2"),
    ],
)
def test_errors_are_the_same_compiled_and_eager(libraries, call, words):  # J05
    for name in ("element_add", "inputs", "shapes"):
        libraries(name)
    x = draw(2, 3)
    with pytest.raises(Exception, match=words):
        call(libraries, x)
    with pytest.raises(Exception, match=words):
        torch.compile(lambda x: call(libraries, x), fullgraph=True)(x)


def test_a_missing_gradient_is_an_error_under_compile_too(libraries):  # G01 J05
    add = libraries("element_add").element_add
    x = draw(3, dtype=torch.float32).requires_grad_()
    with pytest.raises(Exception, match=r"element_add has no gradient"):
        torch.compile(add, fullgraph=True)(x, x).sum().backward()


@pytest.mark.parametrize("case", WITH_GRADIENT, ids=str)
def test_export_keeps_the_operator(libraries, case):
    op = libraries(case.group)[case.operator]

    class Calls(torch.nn.Module):
        def forward(self, *inputs):
            return op(*inputs, **case.attrs)

    inputs = case.inputs()
    program = torch.export.export(Calls(), inputs)
    assert any(case.operator in str(node.target) for node in program.graph.nodes)
    assert_same(program.module()(*inputs), case.reference(*inputs, **case.attrs))


def test_export_with_a_dynamic_batch(libraries):
    op = libraries("fused_add_scale").fused_add_scale

    class Calls(torch.nn.Module):
        def forward(self, x, bias, scale):
            return op(x, bias, scale)

    x, bias, scale = draw(4, 3), draw(3), draw(3)
    program = torch.export.export(
        Calls(), (x, bias, scale), dynamic_shapes=({0: torch.export.Dim("batch")}, None, None)
    )
    x = draw(9, 3)
    assert_same(program.module()(x, bias, scale), (x + bias) * scale)


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_vmap_maps_it(libraries):
    fused = libraries("fused_broadcast").fused_broadcast
    x, b, s = draw(5, 2, 3), draw(3), draw(5, 3)
    made = torch.vmap(fused, in_dims=(0, None, 0))(x, b, s)
    assert_same(made, (x + b) * s[:, None])


def test_a_size_of_no_value_yet_is_pytorchs_own_question(libraries):  # S09
    from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode, ShapeEnv

    env = ShapeEnv()
    size = env.create_unbacked_symint()
    probe = libraries("effects").probe
    with FakeTensorMode(shape_env=env):
        unknown, three = torch.empty(size), torch.empty(3)
        assert probe(unknown, unknown, unknown).shape == (size,)
        with pytest.raises(GuardOnDataDependentSymNode, match=r"Ne\(u0, 3\)|Eq\(u0, 3\)"):
            probe(unknown, three, three)
        with pytest.raises(opwright.ShapeError, match=r"x \[3\] and w \[2\] must have equal"):
            probe(three, torch.empty(2), three)


def test_a_library_is_looked_into_for_the_first_time_while_tracing(built):
    library = opwright.load(built("elementwise"))
    x = torch.ones(3)
    traced = torch.compile(lambda x: library.square(x), fullgraph=True, backend="eager")
    assert torch.equal(traced(x), x)


def test_compiled_autograd(libraries):
    square = libraries("elementwise").square
    x = torch.full((3,), 2.0, requires_grad=True)
    with torch._dynamo.config.patch(compiled_autograd=True):

        @torch.compile(backend="eager")
        def step():
            square(x).sum().backward()

        step()
    assert torch.equal(x.grad, torch.full((3,), 4.0))


def test_compiled_autograd_takes_an_operator_at_its_first_call(run_python, built):
    code = """
import sys
import torch
from torch._dynamo import compiled_autograd
import opwright
square = opwright.load(sys.argv[1]).square
sum_squares = opwright.load(sys.argv[2]).sum_squares
x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
with compiled_autograd._enable(torch.compile(backend="eager", fullgraph=True)):
    for call in (square, square, lambda x: sum_squares([x])):
        x.grad = None
        call(x).sum().backward()
        print(x.grad.tolist())
"""
    made = run_python(code, built("elementwise"), built("inputs")).stdout.split("\n")
    assert made[:3] == ["[2.0, 4.0]"] * 3

# SPDX-License-Identifier: Apache-2.0
"""Gradients by compiled backward operators: values, shapes, dtypes, what is not asked for."""

import gc
import json
import re
import weakref

import pytest
import torch
from calls import CASES, WITH_GRADIENT, assert_same, draw, scattered, tensors

import opwright
from opwright.torch import _bound


def floats(inputs):
    return [t for t in tensors(inputs) if t.is_floating_point()]


def loss_of(made):
    """Weighs every element differently."""
    return sum(
        (t * torch.arange(1, t.numel() + 1, dtype=t.dtype).reshape(t.shape)).sum()
        for t in tensors(made)
        if t.is_floating_point()
    )


def gradients(function, inputs, attrs):
    return torch.autograd.grad(loss_of(function(*inputs, **attrs)), floats(inputs))


@pytest.mark.parametrize("case", WITH_GRADIENT, ids=str)
def test_gradients_are_those_of_the_native_operator(libraries, case):
    inputs = case.floats()
    made = gradients(libraries(case.group)[case.operator], inputs, case.attrs)
    assert_same(made, gradients(case.reference, inputs, case.attrs))


@pytest.mark.parametrize("case", WITH_GRADIENT, ids=str)
def test_gradients_do_not_depend_on_strides(libraries, case):  # C03 C04
    inputs = case.floats()
    odd = tuple(scattered(value) for value in inputs)
    made = gradients(libraries(case.group)[case.operator], odd, case.attrs)
    assert_same(made, gradients(case.reference, inputs, case.attrs))


@pytest.mark.parametrize("case", WITH_GRADIENT, ids=str)
def test_gradcheck(libraries, case):
    inputs = case.floats()
    if floats(inputs)[0].dtype != torch.float64:
        inputs = tuple(t.detach() for t in inputs)
        tolerances = {"eps": 1e-2, "atol": 1e-2, "nondet_tol": 0}
        inputs = (inputs[0].requires_grad_(), *inputs[1:])
    else:
        tolerances = {}
    op = libraries(case.group)[case.operator]
    # gradcheck takes flat tensors.
    flat = tensors(inputs)

    def call(*given):
        given = iter(given)

        def rebuild(value):
            if isinstance(value, list):
                return [rebuild(item) for item in value]
            return next(given) if isinstance(value, torch.Tensor) else value

        made = op(*map(rebuild, inputs), **case.attrs)
        return tuple(t for t in tensors(made) if t.is_floating_point())

    assert torch.autograd.gradcheck(call, flat, **tolerances)


def test_three_inputs_that_broadcast_differently(libraries):  # B07
    x = torch.arange(12.0).reshape(4, 3).requires_grad_()
    b = torch.tensor([0.1, 0.2, 0.3], requires_grad=True)
    s = torch.tensor([[2.0], [3.0], [4.0], [5.0]], requires_grad=True)
    libraries("fused_broadcast").fused_broadcast(x, b, s).backward(torch.ones(4, 3))
    assert_same(x.grad, s.detach().expand(4, 3))
    assert_same(b.grad, torch.tensor([14.0, 14.0, 14.0]))
    assert_same(s.grad, torch.tensor([[3.6], [12.6], [21.6], [30.6]]))


def test_an_unbatched_input_gets_the_sum_over_the_batch(libraries):  # B06
    fused_broadcast = libraries("fused_broadcast").fused_broadcast
    x, b, s = draw(5, 2, 3, grad=True), draw(2, 3, grad=True), draw(2, 3, grad=True)
    y = fused_broadcast(x, b, s)
    assert y.shape == (5, 2, 3)
    weight = draw(5, 2, 3)
    made = torch.autograd.grad(y, (x, b, s), weight)
    assert_same(made, torch.autograd.grad((x + b) * s, (x, b, s), weight))
    assert made[1].shape == (2, 3)
    assert_same(made[1], (weight * s.detach()).sum(0))


@pytest.mark.parametrize("shape", [(), (1,), (8,)])
def test_a_scale_of_any_shape_gets_a_gradient_of_that_shape(libraries, shape):  # B05 E03
    x, s = draw(8), draw(*shape, grad=True)
    libraries("fused_broadcast").fused_broadcast(x, draw(8), s).sum().backward()
    assert s.grad.shape == shape


@pytest.mark.parametrize("numbers", [[2, 3], [-1], [0, 1], [33] + [1] * 33, [1, -1], [1, 2**62]])
def test_shapes_of_a_list_that_no_gradient_has_are_refused(libraries, numbers):
    libraries("inputs")
    with pytest.raises(RuntimeError, match=r"grad_xs.*\[CL005\]"):
        torch.ops.opwright.add_weighted_grad(draw(3), _grad_xs_shape=numbers)


def test_an_operator_bound_by_the_acl_form_has_the_shapes_of_a_list(libraries):
    kernel = _bound._kernel(libraries("inputs").scale_each_grad)
    a, b = draw(2), draw(3, 2)
    assert_same(kernel([a, b], _grad_xs_shape=[1, 2, 2, 3, 2]), [2 * a, 3 * b])


@pytest.mark.parametrize("shape", [(3,), (4, 1), (1, 3), (1,), ()])
def test_empty_outputs_give_zero_gradients(libraries, shape):  # E01
    x = torch.empty(0, 3, dtype=torch.float64, requires_grad=True)
    b = torch.ones(shape if shape != (4, 1) else (1, 1), dtype=torch.float64, requires_grad=True)
    libraries("fused_broadcast").fused_broadcast(x, b, draw()).sum().backward()
    assert x.grad.shape == (0, 3)
    assert_same(b.grad, torch.zeros_like(b))


@pytest.mark.parametrize(
    "reach",
    [
        lambda y: y.sum(),
        lambda y: (y.transpose(0, 1) * torch.arange(4.0, dtype=y.dtype)).sum(),
        lambda y: y[:, ::2].sum() + y[1].sum(),
        lambda y: y.flip(0).cumsum(0).mean(),
        lambda y: y.float().sum(),
        lambda y: y.half().sum(),
        lambda y: y.expand(2, 4, 4).sum(),
    ],
)
def test_a_cotangent_may_be_anything(libraries, reach):  # C01 C03 D03
    x, b, s = draw(4, 4, grad=True), draw(4, grad=True), draw(4, 1, grad=True)
    made = torch.autograd.grad(
        reach(libraries("fused_broadcast").fused_broadcast(x, b, s)), (x, b, s)
    )
    assert_same(made, torch.autograd.grad(reach((x + b) * s), (x, b, s)))


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_gradients_have_the_inputs_dtype(libraries, dtype):  # D07
    x = draw(3, 4, dtype=dtype).requires_grad_()
    libraries("elementwise").square(x).sum().backward()
    assert x.grad.dtype == dtype
    assert_same(x.grad, 2 * x.detach())


def test_mixed_floats_get_gradients_of_their_own_dtypes(libraries):  # D01 D07
    x = draw(3, dtype=torch.float16).requires_grad_()
    b, s = draw(3, dtype=torch.float32).requires_grad_(), draw(3, dtype=torch.float32)
    libraries("fused_broadcast").fused_broadcast(x, b, s).sum().backward()
    assert x.grad.dtype == torch.float16
    assert b.grad.dtype == torch.float32
    assert_same(x.grad, s.half())
    assert_same(b.grad, s)


def test_an_integer_output_is_not_differentiable(libraries):  # G16
    x = draw(3, 4, grad=True)
    values, index = libraries("inputs").greatest(x)
    assert values.requires_grad
    assert not index.requires_grad
    assert index.dtype == torch.int64


def test_integer_inputs_need_no_gradient(libraries):
    x = draw(4, 3, dtype=torch.float32).requires_grad_()
    idx = torch.tensor([1, 1, 3], dtype=torch.int32)
    libraries("inputs").take_rows(x, idx).sum().backward()
    assert_same(x.grad, torch.tensor([[0.0], [2.0], [0.0], [1.0]]).expand(4, 3))


def test_unused_outputs_count_as_zero_or_absent(libraries):  # G05
    pair = libraries("inputs").pair
    x, y = draw(3, grad=True), draw(3, grad=True)
    p, _ = pair(x, y)
    assert_same(torch.autograd.grad(p.sum(), (x, y)), (y, x))
    _, q = pair(x, y)
    ones = torch.ones(3, dtype=torch.float64)
    assert_same(torch.autograd.grad(q.sum(), (x, y)), (ones, 3 * ones))


def test_what_is_not_wanted_is_not_computed(libraries):  # G04
    probe = libraries("effects").probe
    for wanted in (
        (True, False, False),
        (False, True, False),
        (True, True, True),
        (False, False, False),
    ):
        inputs = [draw(3, grad=flag) for flag in wanted]
        before = torch.ops.opwright.call_counts().tolist()
        y = probe(*inputs)
        assert y.requires_grad == any(wanted)
        if any(wanted):
            y.sum().backward()
        after = torch.ops.opwright.call_counts().tolist()
        assert [b - a for a, b in zip(before, after, strict=True)] == [
            int(any(wanted)), int(wanted[1]), int(wanted[2])
        ]  # fmt: skip
        assert [t.grad is not None for t in inputs] == list(wanted)


def test_no_graph_is_recorded_where_none_is_wanted(libraries):
    probe = libraries("effects").probe
    x = draw(3, grad=True)
    with torch.no_grad():
        assert not probe(x, x, x).requires_grad
    with torch.inference_mode():
        assert not probe(x, x, x).requires_grad


def test_each_gradient_has_its_own_memory(libraries):  # G25
    x, y, v = draw(3, grad=True), draw(3, grad=True), draw(3, grad=True)
    libraries("effects").probe(x, y, v).sum().backward()
    pointers = {t.grad.data_ptr() for t in (x, y, v)}
    assert len(pointers) == 3
    x.grad.zero_()
    assert_same(y.grad, x.detach())


def test_the_same_cotangent_serves_three_passes(libraries):  # G08 G09
    x = draw(3, grad=True)
    ones = torch.ones(3, dtype=torch.float64)
    made = [
        torch.autograd.grad(libraries("elementwise").square(x), x, grad_outputs=ones)[0]
        for _ in range(3)
    ]
    for each in made:
        assert_same(each, 2 * x.detach())
    assert_same(ones, torch.ones(3, dtype=torch.float64))


def test_retained_graphs_and_double_use_add_up(libraries):
    square = libraries("elementwise").square
    x = draw(3, grad=True)
    y = square(x)
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    assert_same(x.grad, 4 * x.detach())
    x.grad = None
    z = square(x)
    (square(z) + z * x).sum().backward()
    assert_same(x.grad, 4 * x.detach() ** 3 + 3 * x.detach() ** 2)
    with pytest.raises(RuntimeError, match="second time"):
        z.sum().backward()


def test_a_saved_tensor_that_was_written_to_is_noticed(libraries):
    x = draw(3, grad=True)
    middle = x * 1
    y = libraries("elementwise").square(middle)
    middle.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


# Operator, its inputs, and which of them, and of the outputs after them, its backward takes.
SAVED = [
    ("effects", "probe", lambda: [draw(3), draw(3), draw(3)], [True, True, False, False]),
    ("elementwise", "inverse", lambda: [draw(3)], [False, True]),
    ("inputs", "linear", lambda: [draw(2, 3), draw(3, 4), draw(4)], [True, True, False, False]),
    ("inputs", "lift", lambda: [[draw(3), draw(3)], draw(1)], [True, True, False, False]),
    ("inputs", "greatest", lambda: [draw(2, 3)], [True, False, True]),
]


@pytest.mark.parametrize(("group", "name", "make", "taken"), SAVED, ids=lambda v: v)
def test_only_what_the_backward_operator_takes_is_saved(libraries, group, name, make, taken):  # G12
    op = libraries(group)[name]
    native = [t.requires_grad_() for t in tensors(make())]

    def call(leaves):
        middle = iter([t * 1 for t in leaves])
        inputs = [
            [next(middle) for _ in value] if isinstance(value, list) else next(middle)
            for value in make()
        ]
        outputs = op(*inputs)
        return outputs, [*tensors(inputs), *tensors(outputs)]

    outputs, _ = call(native)
    expected = torch.autograd.grad(loss_of(outputs), native)
    for index, is_taken in enumerate(taken):
        outputs, every = call(native)
        loss = loss_of(outputs)
        with torch.no_grad():  # a write in place, as an optimizer makes one
            every[index].mul_(2)
        if is_taken:
            with pytest.raises(RuntimeError, match="modified by an inplace operation"):
                torch.autograd.grad(loss, native)
        else:
            assert_same(torch.autograd.grad(loss, native), expected)
        outputs, every = call(native)
        loss = loss_of(outputs)
        alive = weakref.ref(every[index])
        del every, outputs
        gc.collect()
        if index < len(native):
            assert (alive() is not None) == is_taken, index
        del loss


def test_a_python_rule_is_given_every_value(libraries):
    op = libraries("effects").probe
    kept = opwright._operator._bprops.copy()
    seen = []

    @op.bprop
    def rule(x, w, v, out, dout):
        seen.extend((x, w, v, out))
        return dout * w, dout * x, dout

    try:
        given = [draw(3, grad=True) for _ in range(3)]
        y = op(*given)
        y.sum().backward()
        assert_same(seen, [*given, y])
    finally:
        opwright._operator._bprops.clear()
        opwright._operator._bprops.update(kept)


def test_second_derivatives_are_right_where_the_backward_has_a_gradient(libraries):
    power = libraries("elementwise").power
    x = draw(4, grad=True)

    def call(x):
        return power(x, exponent=4, scale=0.5)

    assert torch.autograd.gradgradcheck(call, (x,))
    (first,) = torch.autograd.grad(call(x).sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    assert_same(second, 6 * x.detach() ** 2)


def test_second_derivatives_are_refused_with_words_where_there_is_none(libraries):
    x = draw(4, grad=True)
    (first,) = torch.autograd.grad(libraries("elementwise").square(x).sum(), x, create_graph=True)
    assert first.requires_grad
    with pytest.raises(opwright.GradientError, match=r"square_grad has no gradient.*GR001"):
        first.sum().backward()


def test_an_operator_without_gradient_raises_in_backward(libraries):  # G01
    x = draw(3, dtype=torch.float32).requires_grad_()
    z = libraries("element_add").element_add(x, x.detach())
    assert z.requires_grad
    with pytest.raises(
        opwright.GradientError, match=r"element_add has no gradient.*register_operator_gradient"
    ):
        z.sum().backward()


def test_a_backward_kernel_that_fails_is_an_error_with_its_name(libraries):
    x = torch.ones(3, requires_grad=True)
    y = libraries("effects").fail(x, how="not")
    with pytest.raises(RuntimeError, match=r"fail_grad: the kernel failed: backward words"):
        y.sum().backward()


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_thousand_calls_keep_no_tensor(libraries, case):  # G12
    op = libraries(case.group)[case.operator]
    inputs = case.floats()

    def live():
        gc.collect()
        return sum(issubclass(type(o), torch.Tensor) for o in gc.get_objects())

    op(*inputs, **case.attrs)
    before = live()
    for _ in range(1000):
        op(*inputs, **case.attrs)
    assert live() <= before


def test_saved_tensors_go_with_the_graph(libraries):  # G12
    square = libraries("elementwise").square
    x = draw(3, grad=True)
    middle = x * 1
    alive = weakref.ref(middle)
    y = square(middle)
    del middle
    y.sum().backward()
    del y
    gc.collect()
    assert alive() is None


def test_a_function_of_autograd_may_call_an_operator(libraries):
    square = libraries("elementwise").square

    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return 2 * square(x)

        @staticmethod
        def backward(ctx, grad):
            (x,) = ctx.saved_tensors
            return 2 * torch.ops.opwright.square_grad(x, grad)

    x = draw(3, grad=True)
    Twice.apply(x).sum().backward()
    assert_same(x.grad, 4 * x.detach())
    assert torch.autograd.gradcheck(Twice.apply, (x,))


def test_checkpointing_and_hooks_see_the_operator(libraries):
    from torch.utils.checkpoint import checkpoint

    square = libraries("elementwise").square
    x = draw(3, grad=True)
    checkpoint(lambda v: square(square(v)), x, use_reentrant=False).sum().backward()
    assert_same(x.grad, 4 * x.detach() ** 3)


def test_autocast_mixes_are_promoted(libraries):  # D01
    x = draw(4, 4, dtype=torch.float32).requires_grad_()
    scale = draw(4, dtype=torch.float32)
    with torch.autocast("cpu", torch.bfloat16):
        y = libraries("fused_broadcast").fused_broadcast(x @ x, scale, scale)
    assert y.dtype == torch.float32
    y.sum().backward()
    assert x.grad.dtype == torch.float32


def test_a_backward_operator_that_is_not_in_the_library_is_named(tmp_path):  # G01
    from operator_libraries import write_operator
    from sources import GROUPS

    metadefs, source = GROUPS["element_add"]
    metadefs = json.loads(json.dumps(metadefs))
    (metadefs if isinstance(metadefs, dict) else metadefs[0])["gradient"] = "element_add_grad"
    library = opwright.load(write_operator(tmp_path / "add", metadefs, source))
    x = torch.ones(2, requires_grad=True)
    words = re.escape(f"its backward operator element_add_grad is not in {library.path}")
    with pytest.raises(opwright.GradientError, match=rf"^element_add has .*{words}.*GR001"):
        library.element_add(x, x).sum().backward()

# SPDX-License-Identifier: Apache-2.0
"""Python rules for the gradient: how they are called and what they owe."""

import functools
import traceback

import pytest
import torch
from calls import assert_same, draw

import opwright

ADD = {
    "op_name": "bprop_probe",
    "input_desc": [
        {"name": "x", "dtype": ["float32", "float64", "float16"], "shape": [-2]},
        {"name": "y", "dtype": ["float32", "float64", "float16"], "shape": [-2]},
    ],
    "output_desc": [{"name": "z", "dtype": ["float32", "float64", "float16"], "shape": [-2]}],
    "attr": [{"name": "alpha", "type": "float", "default_value": 1.0}],
    "shape_rule": "broadcast(x, y)",
}
SOURCE = """#include <opwright/kernel.h>
using opwright::View;
template <class T>
void Probe(View<const T> x, View<const T> y, View<T> z, double) {
  for (int64_t i = 0; i < z.Size(); ++i) {
    int64_t rest = i, at_x = 0, at_y = 0;
    for (int32_t k = z.Rank() - 1; k >= 0; --k) {
      at_x += rest % z.Dim(k) * x.Stride(k);
      at_y += rest % z.Dim(k) * y.Stride(k);
      rest /= z.Dim(k);
    }
    z.Data()[i] = x.Data()[at_x] * y.Data()[at_y];
  }
}
OPWRIGHT_FUNCTION(bprop_probe, Probe)
"""


@pytest.fixture(scope="module")
def probe(tmp_path_factory):
    from operator_libraries import write_operator

    folder = write_operator(tmp_path_factory.mktemp("probe") / "probe", ADD, SOURCE)
    return opwright.load(folder).bprop_probe


def backward(op, rule, x=None, y=None, **attrs):
    op.bprop(rule)
    x = draw(2, 3, grad=True) if x is None else x
    y = draw(2, 3, grad=True) if y is None else y
    z = op(x, y, **attrs)
    z.sum().backward()
    return x, y


def product(x, y, out, dout):
    return dout * y, dout * x


def test_a_rule_gives_the_gradients(probe):
    x, y = backward(probe, product)
    assert_same((x.grad, y.grad), (y.detach(), x.detach()))


@pytest.mark.parametrize(
    ("rule", "code", "words"),
    [
        (lambda x, y, out, dout: dout * y, "GR003", r"bare tensor.* `return \(grad_x, grad_y\)`"),
        (lambda x, y, out, dout: (dout * y,), "GR003", "1 gradient, 2 are due"),
        (lambda x, y, out, dout: (dout,) * 3, "GR003", "3 gradients, 2 are due"),
        (lambda x, y, out, dout: [dout * y, dout * x], "GR003", "a list, a tuple is due"),
        (lambda x, y, out, dout: None, "GR003", "returned nothing"),
        (lambda x, y, out, dout: {"x": dout}, "GR003", "a dict"),
        (lambda x, y, out, dout: (dout * y, None), "GR004", "None for input y"),
        (lambda x, y, out, dout: (dout[:1, :2], dout), "GR005", r"x has shape \[1, 2\], \[2, 3\]"),
        (lambda x, y, out, dout: (dout.t(), dout), "GR005", r"x has shape \[3, 2\], \[2, 3\]"),
        (lambda x, y, out, dout: (dout.long(), dout), "GR006", "input x is dtype torch.int64"),
        (lambda x, y, out, dout: (dout, 1.0), "GR006", "input y is a float"),
        (lambda x, y, out, dout: (dout, dout.numpy()), "GR006", "input y is a ndarray"),
        (lambda x, y, out, dout: (dout, dout.bool()), "GR006", "dtype torch.bool"),
        (lambda x, y, out, dout: (dout, dout.to(torch.cfloat)), "GR006", "dtype torch.complex64"),
    ],
)  # fmt: skip
def test_what_a_rule_may_not_return(probe, rule, code, words):  # G02 G03 S10
    with pytest.raises(opwright.GradientError, match=words) as caught:
        backward(probe, rule)
    assert caught.value.code == code
    assert "bprop_probe" in str(caught.value)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32], ids=str)
def test_a_gradient_in_another_float_dtype_is_cast(probe, dtype):  # D07
    x, y = backward(probe, lambda x, y, out, dout: ((dout * y).to(dtype), (dout * x).to(dtype)))
    assert x.grad.dtype == torch.float64
    assert_same(x.grad, y.detach().to(dtype).double())


def test_a_gradient_for_a_broadcast_input_is_summed_where_the_metadef_says_broadcast(
    probe,
):  # B01 B02 B04
    for shapes in (
        [(4, 3), (3,)],
        [(4, 3), (4, 1)],
        [(4, 1), (1, 4)],
        [(4, 3), ()],
        [(5, 2, 3), (2, 3)],
    ):
        x, y = backward(probe, product, *(draw(*shape, grad=True) for shape in shapes))
        expected = torch.autograd.grad((x * y).sum(), (x, y))
        assert_same((x.grad, y.grad), expected)


def test_a_gradient_of_another_shape_is_refused_elsewhere(libraries):  # B01
    op = libraries("inputs").choose
    op.bprop(
        lambda x, mask, level, offset, out, dout: (
            dout[0].expand(2, *dout[0].shape),
            None,
            None,
            None,
        )
    )
    x = draw(3, dtype=torch.float32).requires_grad_()
    rest = (x > 0, torch.ones(3, dtype=torch.uint8), torch.ones(3, dtype=torch.int64))
    y, _ = op(x, *rest)
    with pytest.raises(
        opwright.GradientError, match=r"choose.*shape \[2, 3\], \[3\] is due.*GR005"
    ):
        y.sum().backward()


def test_integer_inputs_and_outputs_are_none(libraries):  # G16
    op = libraries("inputs").choose
    seen = []

    @op.bprop
    def rule(x, mask, level, offset, out, dout):
        seen.append((out, dout))
        return torch.where(mask, dout[0], 0), None, None, None

    x = draw(3, dtype=torch.float32).requires_grad_()
    mask = torch.tensor([True, False, True])
    y, n = op(x, mask, torch.ones(3, dtype=torch.uint8), torch.ones(3, dtype=torch.int64))
    assert not n.requires_grad
    y.sum().backward()
    assert_same(x.grad, mask.float())
    ((out, dout),) = seen
    assert len(out) == 2
    assert dout[1] is None


def test_an_input_that_needs_none_may_get_anything(probe):  # G04
    x, y = backward(probe, lambda x, y, out, dout: (dout * y, None), y=draw(2, 3))
    assert_same(x.grad, y)
    x, y = backward(probe, lambda x, y, out, dout: (dout * y, "nonsense"), y=draw(2, 3))
    assert y.grad is None


def test_an_absent_optional_input_is_none(libraries):  # G22
    linear = opwright.load(libraries("inputs").path).linear
    seen = []

    def rule(x, w, bias, out, dout, alpha):
        seen.append((bias, alpha))
        return alpha * dout @ w.t(), alpha * x.t() @ dout, None if bias is None else dout.sum(0)

    linear.bprop(rule)
    try:
        x, w, bias = draw(2, 3, grad=True), draw(3, 4, grad=True), draw(4, grad=True)
        for given, attrs in (
            ((x, w), {}),
            ((x, w, None), {"alpha": 2.0}),
            ((x, w, bias), {}),
            ((x, w), {"bias": bias}),
        ):
            made = linear(*given, **attrs)
            assert torch.autograd.grad(made.sum(), (x, w))[0].shape == x.shape
    finally:
        linear.bprop(None)
    assert [alpha for _, alpha in seen] == [1.0, 2.0, 1.0, 1.0]
    assert [bias is None for bias, _ in seen] == [True, True, False, False]


def test_attributes_come_by_keyword_if_the_rule_names_them(probe):
    seen = []

    def named(x, y, out, dout, alpha):
        seen.append(alpha)
        return dout * y, dout * x

    def keywords(x, y, out, dout, **attrs):
        seen.append(attrs)
        return dout * y, dout * x

    def only(x, y, out, dout, *, alpha=9.0):
        seen.append(alpha)
        return dout * y, dout * x

    for rule in (named, keywords, only):
        backward(probe, rule, alpha=0.5)
    backward(probe, named)
    assert seen == [0.5, {"alpha": 0.5}, 0.5, 1.0]


class Holder:
    factor = 1.0

    def method(self, x, y, out, dout):
        return self.factor * dout * y, self.factor * dout * x

    def __call__(self, x, y, out, dout):
        return self.method(x, y, out, dout)


def scaled(factor, x, y, out, dout):
    return factor * dout * y, factor * dout * x


@pytest.mark.parametrize(
    "rule",
    [
        Holder().method,
        Holder(),
        functools.partial(scaled, 1.0),
        lambda x, y, out, dout: (dout * y, dout * x),
        lambda *values: (values[3] * values[1], values[3] * values[0]),
    ],
)
def test_a_rule_may_be_any_callable(probe, rule):
    x, y = backward(probe, rule)
    assert_same((x.grad, y.grad), (y.detach(), x.detach()))


@pytest.mark.parametrize(
    "rule", [lambda x, y, dout: None, lambda x, y, out, dout, more: None, lambda: None, 3, "rule"]
)
def test_a_rule_of_another_arity_is_refused_when_it_is_bound(probe, rule):
    with pytest.raises(opwright.GradientError, match=r"bprop_probe.*GR007"):
        probe.bprop(rule)


def test_one_tensor_for_two_inputs_becomes_two(probe):  # G25
    for rule in (
        lambda x, y, out, dout: (dout, dout),
        lambda x, y, out, dout: (dout, dout.view(2, 3)),
        lambda x, y, out, dout: (x, y),
        lambda x, y, out, dout: (out, out),
    ):
        x, y = backward(probe, rule)
        kept = y.grad.clone()
        before = x.detach().clone()
        x.grad.mul_(0)
        assert_same(y.grad, kept)
        assert_same(x.detach(), before)


def test_a_gradient_that_is_the_cotangent_leaves_the_cotangent_alone(probe):  # G09 G25
    probe.bprop(lambda x, y, out, dout: (dout, dout))
    x, y = draw(2, 3, grad=True), draw(2, 3, grad=True)
    ones = torch.ones(2, 3, dtype=torch.float64)
    probe(x, y).backward(ones)
    x.grad.mul_(0)
    assert_same(ones, torch.ones(2, 3, dtype=torch.float64))
    probe(x, y).backward(ones)
    assert_same(x.grad, ones)


def test_an_exception_keeps_its_type_and_traceback(probe):  # T07
    def rule(x, y, out, dout):
        raise KeyError("a message of the rule")

    with pytest.raises(KeyError, match="a message of the rule") as caught:
        backward(probe, rule)
    frames = traceback.extract_tb(caught.value.__traceback__)
    assert any(frame.name == "rule" and frame.filename == __file__ for frame in frames)


def test_every_handle_has_the_rule_that_is_bound_at_its_forward(probe):
    calls = []

    def first(x, y, out, dout):
        calls.append("first")
        return product(x, y, out, dout)

    def second(x, y, out, dout):
        calls.append("second")
        return product(x, y, out, dout)

    x, y = draw(2, 3, grad=True), draw(2, 3, grad=True)
    probe.bprop(first)
    z = opwright.load(probe._core.library_path).bprop_probe(x, y)
    z.sum().backward(retain_graph=True)
    probe.bprop(second)
    z.sum().backward()
    torch.ops.opwright.bprop_probe(x, y).sum().backward()
    assert calls == ["first", "first", "second"]


def test_a_rule_bound_after_the_forward_is_for_later_calls(libraries):
    add = opwright.load(libraries("element_add").path).element_add
    x = draw(3, dtype=torch.float32).requires_grad_()
    z = add(x, x)
    add.bprop(lambda x, y, out, dout: (dout, dout))
    try:
        with pytest.raises(opwright.GradientError, match="GR001"):
            z.sum().backward()
        add(x, x).sum().backward()
    finally:
        add.bprop(None)
    assert_same(x.grad, torch.full((3,), 2.0))


def test_second_derivatives_through_a_rule(probe):
    probe.bprop(product)
    x, y = draw(2, 3, grad=True), draw(2, 3, grad=True)
    assert torch.autograd.gradgradcheck(probe, (x, y))


def test_gradcheck_of_a_rule(probe):
    probe.bprop(product)
    assert torch.autograd.gradcheck(probe, (draw(4, 1, grad=True), draw(3, grad=True)))


def test_rules_work_inside_torch_compile(probe):
    probe.bprop(product)
    x, y = draw(4, 3, grad=True), draw(3, grad=True)
    torch._dynamo.reset()
    made = torch.autograd.grad(
        torch.compile(probe, fullgraph=True, dynamic=True)(x, y).sum(), (x, y)
    )
    assert_same(made, torch.autograd.grad((x * y).sum(), (x, y)))


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (lambda x, y, out, dout: dout * y, "bare tensor"),
        (lambda x, y, out, dout: (dout * y, None), "None for input y"),
        (lambda x, y, out, dout: (dout[:1, :2], dout), r"\[1, 2\]"),
    ],
)
def test_a_wrong_rule_says_the_same_under_torch_compile(probe, rule, words):  # J05
    probe.bprop(rule)
    torch._dynamo.reset()
    compiled = torch.compile(probe, fullgraph=True, dynamic=False)
    with pytest.raises(Exception, match=words):
        compiled(draw(2, 3, grad=True), draw(2, 3, grad=True)).sum().backward()


@pytest.mark.parametrize(
    ("rule", "name"),
    [
        (lambda x, y, out, dout: (dout.mul_(2), dout * x), "the gradient of output z"),
        (lambda x, y, out, dout: (dout * y, x.mul_(2)), "input x"),
        (lambda x, y, out, dout: (dout * y.detach().zero_(), dout), "input y"),
        (lambda x, y, out, dout: (dout * out.add_(1), dout), "output z"),
        (lambda x, y, out, dout: (dout[0].zero_() + y, dout), "the gradient of output z"),
    ],
)
def test_a_rule_that_writes_what_it_was_lent_is_refused(probe, rule, name):
    probe.bprop(rule)
    z = probe(draw(2, 3, grad=True), draw(2, 3, grad=True))
    with pytest.raises(opwright.GradientError, match=f"wrote into {name}, ") as caught:
        z.backward(torch.ones_like(z))
    assert caught.value.code == "GR009"


@pytest.mark.parametrize(
    "rule",
    [
        lambda x, y, out, dout: (x.detach(), y.view(-1).view(2, 3)),
        lambda x, y, out, dout: (dout, dout.view(-1).view(2, 3)),
        lambda x, y, out, dout: (y, out.detach()),
        lambda x, y, out, dout: (dout.detach(), x),
    ],
)
def test_a_gradient_lies_in_memory_of_its_own(probe, rule):
    probe.bprop(rule)
    x, y = draw(2, 3, grad=True), draw(2, 3, grad=True)
    z = probe(x, y)
    dout = draw(2, 3)
    expected = [t.detach().clone() for t in rule(x, y, z, dout)]
    z.backward(dout)
    assert_same((x.grad, y.grad), expected)
    places = {t.untyped_storage().data_ptr() for t in (x, y, z, dout, x.grad, y.grad)}
    assert len(places) == 6


def test_a_gradient_larger_than_the_output_is_not_summed(libraries):
    op = libraries("fused_broadcast").fused_broadcast

    @op.bprop
    def rule(x, b, s, out, dout):
        return (dout * s).expand(4, 2, 3), dout * s, dout * (x + b)

    x = torch.ones(2, 3, requires_grad=True)
    try:
        with pytest.raises(RuntimeError, match=r"input x has shape \[4, 2, 3\], \[2, 3\] is due"):
            op(x, torch.ones(3), torch.ones(3)).sum().backward()
    finally:
        op.bprop(None)

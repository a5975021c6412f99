# SPDX-License-Identifier: Apache-2.0
"""torch.func and forward mode: transforms of backward mode work, a tangent is never dropped."""

import pytest
import torch
from calls import WITH_GRADIENT, assert_same, draw, tensors
from torch.autograd import forward_ad
from torch.func import grad, hessian, jacfwd, jacrev, jvp, vjp, vmap

import opwright


def weighed(function, case):
    """A number of the float outputs, each element of which counts differently."""

    def number(*inputs):
        return sum(
            (t * torch.arange(1, t.numel() + 1, dtype=t.dtype).reshape(t.shape)).sum()
            for t in tensors(function(*inputs, **case.attrs))
            if t.is_floating_point()
        )

    return number


@pytest.mark.parametrize("case", WITH_GRADIENT, ids=str)
def test_func_grad_is_that_of_the_native_operator(libraries, case):
    inputs = case.inputs()
    made = grad(weighed(libraries(case.group)[case.operator], case))(*inputs)
    assert_same(made, grad(weighed(case.reference, case))(*inputs))


def test_func_grad_of_an_optional_input_and_of_an_attribute_call(libraries):
    linear = libraries("inputs").linear
    x, w, bias = draw(3, 4), draw(4, 5), draw(5)
    made = grad(lambda *given: linear(*given, alpha=1.5).sum(), argnums=(0, 1, 2))(x, w, bias)
    assert_same(made, grad(lambda x, w, b: (1.5 * x @ w + b).sum(), argnums=(0, 1, 2))(x, w, bias))


def test_vjp_and_jacrev_work(libraries):
    inverse, x = libraries("elementwise").inverse, draw(4)
    out, back = vjp(inverse, x)
    cotangent = draw(4)
    assert_same(out, 1 / x)
    assert_same(back(cotangent), (-cotangent / x**2,))
    assert_same(jacrev(inverse)(x), torch.diag(-1 / x**2))


def squares(xs):
    return sum((k + 1) * x**2 for k, x in enumerate(xs))


def test_a_compiled_function_may_map_the_operator_itself(libraries):
    square, x = libraries("elementwise").square, draw(3, 2)
    assert square.__name__ == "square"
    compiled = torch.compile(lambda x: torch.vmap(square)(x), fullgraph=True, backend="aot_eager")
    assert_same(compiled(x), x * x)


def test_attributes_may_have_the_names_of_pytorchs_own_arguments(libraries):
    add, a, b = libraries("inputs").add_weighted, draw(3, 2), draw(3, 2)

    def call(a, b):
        return add([a, b], keyset=2, op=3)

    due = 4 * a + 6 * b
    for function in (call, vmap(call), torch.compile(call, fullgraph=True, backend="aot_eager")):
        assert_same(function(a, b), due)
    made = grad(lambda a, b: call(a, b).sum(), (0, 1))(a, b)
    assert_same(made, (torch.full_like(a, 4), torch.full_like(b, 6)))


@pytest.mark.parametrize("dims", [(0, 0), (0, None), (None, 1), (1, 1)])
def test_vmap_takes_lists(libraries, dims):
    op = libraries("inputs").sum_squares
    given = [draw(3) if dim is None else draw(3, 3) for dim in dims]
    for call in (op, torch.ops.opwright.sum_squares):
        made = vmap(lambda a, b, call=call: call([a, b]), in_dims=dims, out_dims=1)(*given)
        assert_same(made, vmap(lambda a, b: squares([a, b]), in_dims=dims, out_dims=1)(*given))


def test_gradients_and_vmap_of_lists_nest_both_ways(libraries):
    op, a, b = libraries("inputs").sum_squares, draw(2, 4, 3), draw(2, 4, 3)

    def run(function):
        each = vmap(vmap(grad(lambda a, b: function([a, b]).sum(), argnums=(0, 1))))(a, b)
        both = grad(lambda a: vmap(vmap(lambda a, b: function([a, b])))(a, b).sum())(a)
        return *each, both

    assert_same(run(op), run(squares))


def test_vmap_gives_lists_and_takes_none(libraries):
    op, first, x, part = libraries("inputs").add_parts, draw(4, 3), draw(4, 3), draw(4, 3)
    for given in (first, None):
        one = [op(None if given is None else given[k], x[k], [part[k], x[k]]) for k in range(4)]
        dims = (None if given is None else 0, 0, 0)
        made = vmap(lambda f, x, p: op(f, x, [p, x]), in_dims=dims)(given, x, part)
        assert_same(made, [torch.stack(parts) for parts in zip(*one, strict=True)])
        empty = vmap(lambda f, x, p: op(f, x, [p, x]), in_dims=dims)(
            None if given is None else given[:0], x[:0], part[:0]
        )
        assert [t.shape for t in empty] == [(0, 3), (0, 3)]
    assert vmap(lambda a: libraries("inputs").sum_squares([a]))(x[:0]).shape == (0, 3)


def test_batched_gradients_of_lists(libraries):
    """is_grads_batched, which PyTorch maps by a vmap of its own."""
    op, x, y = libraries("inputs").sum_squares, draw(3, grad=True), draw(3, grad=True)
    for batch in (draw(5, 3), draw(1, 3)):
        made, due = (
            torch.autograd.grad(call([x, y]), (x, y), batch, is_grads_batched=True)
            for call in (op, squares)
        )
        assert_same(made, due)


def test_a_jacobian_of_lists_is_vectorized(libraries):
    op, x, y = libraries("inputs").sum_squares, draw(2), draw(2)
    jacobian = torch.autograd.functional.jacobian

    def call(x, y):
        return op([x, y])

    assert_same(jacobian(call, (x, y), vectorize=True), jacobian(call, (x, y)))


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_vmap_of_grad_works(libraries):
    fused = libraries("fused_broadcast").fused_broadcast
    rows, b, s = draw(3, 4), draw(4), draw(4)
    each = grad(lambda x, s: fused(x, b, s).square().sum(), argnums=(0, 1))
    made = vmap(each, in_dims=(0, None))(rows, s)
    due = vmap(grad(lambda x, s: ((x + b) * s).square().sum(), (0, 1)), in_dims=(0, None))(rows, s)
    assert_same(made, due)
    over_all = grad(lambda rows: vmap(lambda x: fused(x, b, s))(rows).square().sum())(rows)
    assert_same(over_all, made[0])


def test_a_second_derivative_is_right_or_refused(libraries):
    power, square = libraries("elementwise").power, libraries("elementwise").square
    x = draw(3)
    twice = grad(lambda x: grad(lambda x: power(x, exponent=3).sum())(x).sum())
    assert_same(twice(x), 6 * x)
    once = grad(lambda x: power(x, exponent=3).sum())(x.requires_grad_())
    assert_same(torch.autograd.grad(once.sum(), x), 6 * x.detach())
    with pytest.raises(opwright.GradientError, match=r"square_grad has no gradient.*GR001"):
        grad(lambda x: grad(lambda x: square(x).sum())(x).sum())(draw(3))


def test_what_is_detached_inside_stays_so(libraries):
    inverse, x = libraries("elementwise").inverse, draw(3)

    def of(x):
        with torch.no_grad():
            constant = inverse(x)
        return (x * constant).sum()

    assert_same(grad(of)(x), 1 / x)


def test_a_python_rule_works_below_transforms(tmp_path):
    from operator_libraries import write_operator
    from sources import GROUPS

    metadefs, source = GROUPS["element_add"]
    add = opwright.load(write_operator(tmp_path / "add", metadefs, source)).element_add
    add.bprop(lambda x, y, out, dout: (2 * dout * y, dout))
    x, y = draw(3, dtype=torch.float32), draw(3, dtype=torch.float32)
    assert_same(grad(lambda x: add(x, y).sum())(x), 2 * y)
    assert_same(grad(lambda y: grad(lambda x: add(x, y).sum())(x).sum())(y), torch.full((3,), 2.0))


def test_a_compiled_grad_is_that_of_eager(libraries):
    inverse, x = libraries("elementwise").inverse, draw(4)
    compiled = torch.compile(grad(lambda x: inverse(x).sum()), fullgraph=True)
    assert_same(compiled(x), -1 / x**2)


def dual_call(function, x):
    with forward_ad.dual_level():
        return function(forward_ad.make_dual(x, torch.ones_like(x)))


FORWARD = {
    "jvp": lambda f, x: jvp(f, (x,), (torch.ones_like(x),)),
    "jacfwd": lambda f, x: jacfwd(f)(x),
    "hessian": lambda f, x: hessian(lambda x: f(x).sum())(x),
    "forward_ad": dual_call,
    "forward_ad of a leaf": lambda f, x: dual_call(f, x.requires_grad_()),
    "jvp of grad": lambda f, x: jvp(grad(lambda x: f(x).sum()), (x,), (x,)),
    "grad of jvp": lambda f, x: grad(lambda x: jvp(f, (x,), (x,))[1].sum())(x),
    "no_grad": lambda f, x: torch.no_grad()(dual_call)(f, x),
}


@pytest.mark.filterwarnings("ignore:There is a performance drop")
@pytest.mark.parametrize("way", FORWARD)
@pytest.mark.parametrize("space", ["opwright", "torch.ops"])
def test_forward_mode_is_refused(libraries, way, space):
    power = libraries("elementwise").power
    if space == "torch.ops":
        power = torch.ops.opwright.power
    words = r"^power(_grad)?: input \w+ has a tangent.*backward mode.*\[GR010\]"
    with pytest.raises(opwright.GradientError, match=words) as caught:
        FORWARD[way](lambda x: power(x, exponent=3), draw(3))
    assert caught.value.code == "GR010"


def test_a_tangent_in_a_list_or_beside_a_written_input_is_refused(libraries):
    x = draw(3)
    with pytest.raises(opwright.GradientError, match="sum_squares: input xs has a tangent"):
        jvp(lambda x: libraries("inputs").sum_squares([x.detach(), x]), (x,), (x,))
    x = draw(3, dtype=torch.float32)
    with pytest.raises(opwright.GradientError, match="accumulate: input x has a tangent"):
        jvp(lambda x: libraries("effects").accumulate(torch.zeros(3), x), (x,), (x,))


def test_a_call_beside_forward_mode_goes_on(libraries):
    inverse, x = libraries("elementwise").inverse, draw(3)
    out, tangent = jvp(lambda y: y * inverse(x), (x,), (torch.ones_like(x),))
    assert_same((out, tangent), (torch.ones_like(x), 1 / x))


def test_compiled_forward_mode_is_refused(libraries):
    inverse, x = libraries("elementwise").inverse, draw(3)
    compiled = torch.compile(lambda x: jvp(inverse, (x,), (x,))[1], fullgraph=True)
    with pytest.raises(RuntimeError, match="GR010"):
        compiled(x)

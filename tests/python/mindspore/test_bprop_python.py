# SPDX-License-Identifier: Apache-2.0
"""Rules that only run in Python are refused at once, in words of ours; what every mode takes is
not."""

import collections
import contextlib

import mindspore as ms
import pytest
from calls import check_product
from mindspore import ops

import opwright
from opwright.mindspore import Custom

Pair = collections.namedtuple("Pair", "x y")


def tries(x, y, out, dout):
    try:
        return dout * y, dout * x
    except ValueError:
        return dout, dout


def imports(x, y, out, dout):
    from mindspore import ops as own

    return own.mul(dout, y), dout * x


def walrus(x, y, out, dout):
    if (grad := dout * y) is None:
        return grad, grad
    return grad, dout * x


def yields(x, y, out, dout):
    yield dout * y
    yield dout * x


def deletes(x, y, out, dout):
    grad = dout
    del grad
    return dout * y, dout * x


def matches(x, y, out, dout):
    match x.ndim:
        case 2:
            return dout * y, dout * x
    return dout, dout


def with_else(x, y, out, dout):
    grad = dout
    for _ in range(1):
        grad = grad * y
    else:
        grad = grad * 1
    return grad, dout * x


def has_a_class(x, y, out, dout):
    class Nothing:
        pass

    return dout * y, dout * x


def named(x, y, out, dout):
    return Pair(dout * y, dout * x)


def calls_one(x, y, out, dout):
    return tries(x, y, out, dout)


def inside(x, y, out, dout):
    def product(a):
        try:
            return dout * a
        except ValueError:
            return a

    return product(y), product(x)


class Context:
    def __enter__(self):
        return self

    def __exit__(self, *what):
        return None


@ms.jit_class
class Compiled(Context):
    pass


CONTEXT = Context()


def enters(x, y, out, dout):
    with Context():
        return dout * y, dout * x


def enters_another(x, y, out, dout):
    with Compiled(), CONTEXT as context:
        grad = dout * y
    return grad, dout * x if context else dout


def enters_of_a_module(x, y, out, dout):
    with contextlib.nullcontext():
        grad = dout * y
    return grad, dout * x


class Holder:
    def method(self, x, y, out, dout):
        import mindspore

        return mindspore.ops.mul(dout, y), dout * x


in_a_lambda = lambda x, y, out, dout: ((grad := dout * y), grad * x / y)  # noqa: E731


# Names of functions that no graph can compile, which the rules below use for values of their own.
def helper(a):
    import math

    return math.sin(a)


scale = negate = helper


def with_a_local(x, y, out, dout):
    helper = ops.neg
    return -helper(dout * y), dout * x


def with_a_local_of_an_inner(x, y, out, dout):
    def inner(a):
        helper = ops.neg
        return -helper(a)

    return inner(dout * y), dout * x


def with_a_parameter_of_an_inner(x, y, out, dout):
    def inner(scale, a):
        return scale(scale(a))

    return inner(ops.neg, dout * y), dout * x


def with_an_inner_function(x, y, out, dout):
    def negate(a):
        return -a

    def twice(a):
        return negate(negate(a))

    return twice(dout * y), dout * x


def with_a_lambda(x, y, out, dout):
    twice = lambda helper, a: helper(helper(a))  # noqa: E731
    return twice(ops.neg, dout * y), dout * x


def with_a_closure():
    helper = ops.neg

    def rule(x, y, out, dout):
        def inner(a):
            return -helper(a)

        return inner(dout * y), dout * x

    return rule


def of_an_inner(x, y, out, dout):
    def inner(a):
        return helper(a)

    return inner(dout * y), dout * x


def by_position(x, y, out, dout, /):
    return dout * y, dout * x


def in_a_dict(x, y, out, dout):
    grads = {"x": dout * y, "y": dout * x}
    return grads["x"], grads["y"]


WEIGHT = ms.Parameter(ms.Tensor(2.0, ms.float64), name="weight")


def of_a_parameter(x, y, out, dout):
    return WEIGHT * dout * y, WEIGHT * dout * x


class Named:
    def __call__(this, x, y, out, dout):  # noqa: N805
        return dout * y, dout * x

    def method(this, x, y, out, dout):  # noqa: N805
        return this(x, y, out, dout)


class NamedCell(ms.nn.Cell):
    def construct(this, x, y, out, dout):  # noqa: N805
        return dout * y, dout * x


REFUSED = {
    by_position: r"has parameters by position only \(/\)",
    in_a_dict: "has a dict of tensors at line",
    of_a_parameter: "uses the Parameter WEIGHT, no input of the operator",
    of_an_inner: "the bprop of_an_inner calls helper, which has import",
    tries: "the bprop tries has try at line",
    imports: "the bprop imports has import",
    walrus: "the bprop walrus has :=",
    yields: "has yield",
    deletes: "has del",
    matches: "has match",
    with_else: "has a loop with else",
    has_a_class: "has class",
    named: "makes the named tuple Pair",
    calls_one: "the bprop calls_one calls tries, which has try",
    inside: "has try",
    enters: "the bprop enters has a with of what is no ms.jit_class at line",
    enters_another: "has a with of what is no ms.jit_class",
    enters_of_a_module: "has a with of what is no ms.jit_class",
    Holder().method: "has import",
    in_a_lambda: "has :=",
}


@pytest.mark.parametrize("rule", REFUSED, ids=lambda rule: rule.__name__)
def test_what_a_graph_cannot_compile_is_refused_in_every_mode(built, rule):
    with pytest.raises(opwright.GradientError, match=REFUSED[rule]) as caught:
        Custom(built("product") + ":product", func_type="aot", bprop=rule)
    assert caught.value.code == "GR020"


@pytest.mark.parametrize(
    "rule", [Named(), Named().method, NamedCell()], ids=["__call__", "method", "cell"]
)
def test_a_method_has_self(built, rule):
    with pytest.raises(opwright.GradientError, match="calls its first parameter this") as caught:
        Custom(built("product") + ":product", func_type="aot", bprop=rule)
    assert caught.value.code == "GR020"


def of_everything(x, y, out, dout):
    assert x.ndim == 2
    if x.ndim > 7:
        raise ValueError("no")
    grad: ms.Tensor = dout
    first, *_ = (grad, 1)
    scale = {k: k for k in (1, 2)}
    shapes = {"x": x.shape}
    grad = ops.reshape(grad, shapes["x"])
    times = 0
    while times < 1:
        first = first * y
        times += 1
    with Compiled():
        first = first * scale[1]
    return (*[first], ops.mul(dout, x))


def test_what_every_mode_compiles_is_no_less(built):
    op = Custom(built("product") + ":product", func_type="aot", bprop=of_everything)
    check_product(op)


NAMED_ALIKE = [
    with_a_local,
    with_a_local_of_an_inner,
    with_a_parameter_of_an_inner,
    with_an_inner_function,
    with_a_lambda,
    with_a_closure(),
]


@pytest.mark.parametrize("rule", NAMED_ALIKE, ids=lambda rule: rule.__qualname__)
def test_a_name_of_the_rule_is_not_the_function_of_the_module(built, rule):
    op = Custom(built("product") + ":product", func_type="aot", bprop=rule)
    check_product(op, modes=("pynative", "jit"))

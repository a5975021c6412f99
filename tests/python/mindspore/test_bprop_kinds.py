# SPDX-License-Identifier: Apache-2.0
"""What may be a rule for the gradient: every kind of callable, in every mode the same."""

import functools

import mindspore as ms
import numpy as np
import pytest
from calls import check_product, draw, wide
from mindspore import Tensor, nn, ops
from modes import MODES, close, everywhere, gradient, refusals, same_bits

import opwright
from opwright.mindspore import Custom

WEIGHTS = (np.arange(6) % 7 - 2.5).reshape(2, 3)


def first(*given):
    return given[0]


def product(x, y, out, dout):
    return dout * y, dout * x


def with_default(x, y, out, dout, factor=1.0):
    return factor * dout * y, factor * dout * x


def with_factor(factor, x, y, out, dout):
    return factor * dout * y, factor * dout * x


def keyword_only(x, y, out, dout, *, factor=1.0):
    return factor * dout * y, factor * dout * x


def of_any(*given):
    return given[-1] * given[1], given[-1] * given[0]


def logged(function):
    @functools.wraps(function)
    def around(x, y, out, dout):
        return function(x, y, out, dout)

    return around


def enclosed():
    factor = Tensor(1.0, ms.float64)

    def rule(x, y, out, dout):
        return factor * dout * y, factor * dout * x

    return rule


class Holder:
    factor = 1.0

    def method(self, x, y, out, dout):
        return self.factor * dout * y, self.factor * dout * x

    @staticmethod
    def static(x, y, out, dout):
        return dout * y, dout * x

    @classmethod
    def of_class(cls, x, y, out, dout):
        return dout * y, dout * x

    def __call__(self, x, y, out, dout):
        return self.factor * dout * y, self.factor * dout * x


class Rule(nn.Cell):
    def construct(self, x, y, out, dout):
        return dout * y, dout * x


class Weighted(nn.Cell):
    def construct(self, factor, x, y, out, dout):
        return factor * dout * y, factor * dout * x


class Layer(nn.Cell):
    """A network whose operator's rule is its own method."""

    def __init__(self, path):
        super().__init__()
        self.op = Custom(path, func_type="aot", bprop=self.rule)

    def rule(self, x, y, out, dout):
        return dout * y, dout * x

    def construct(self, x, y):
        return self.op(x, y)


own_line = lambda x, y, out, dout: (dout * y, dout * x)  # noqa: E731
of_a_module = lambda x, y, out, dout: (ops.mul(dout, y), dout * x)  # noqa: E731
in_a_list = [lambda x, y, out, dout: (dout * y, dout * x), None]

KINDS = {
    "def": product,
    "default argument": with_default,
    "keyword-only argument": keyword_only,
    "method": Holder().method,
    "static method": Holder.static,
    "static method of an object": Holder().static,
    "callable object": Holder(),
    "Cell": Rule(),
    "method of a Cell": Rule().construct,
    "partial": functools.partial(with_factor, 1.0),
    "partial by keyword": functools.partial(with_default, factor=1.0),
    "partial of a tensor": functools.partial(with_factor, Tensor(1.0, ms.float64)),
    "partial of a Cell": functools.partial(Weighted(), 1.0),
    "partial of a method": functools.partial(Holder().method),
    "decorated": logged(product),
    "closure": enclosed(),
    "lambda on its own line": own_line,
    "lambda that calls a module's function": of_a_module,
    "lambda in a list": in_a_list[0],
    "jit function": ms.jit(product),
    "any number": of_any,
}


def test_a_class_method_is_refused(built):
    with pytest.raises(opwright.GradientError, match=r"make it a static method.*GR020"):
        Custom(built("product") + ":product", func_type="aot", bprop=Holder.of_class)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_callable_is_a_rule(built, kind):  # M12
    op = Custom(built("product") + ":product", func_type="aot", bprop=KINDS[kind])
    check_product(op)


def test_a_lambda_in_the_call_itself(built):
    op = Custom(
        built("product") + ":product",
        func_type="aot",
        bprop=lambda x, y, out, dout: (dout * y, dout * x),
    )
    check_product(op)


def test_two_lambdas_on_one_line(built):
    path = built("product") + ":product"
    rules = (
        (lambda x, y, out, dout: (dout * y, dout * x)),
        (lambda x, y, out, dout: (dout, 2 * dout)),
    )
    x, y = draw(2, 3), draw(2, 3)
    made = [everywhere(Custom(path, func_type="aot", bprop=r), (x, y), None) for r in rules]
    close(made[0].gradients, [WEIGHTS * wide(y), WEIGHTS * wide(x)])
    close(made[1].gradients, [WEIGHTS, 2 * WEIGHTS])


def test_lambdas_of_a_loop_keep_what_they_enclose(built):
    path = built("product") + ":product"
    x, y = draw(2, 3), draw(2, 3)

    def scaled(factor):
        return lambda x, y, out, dout: (factor * dout, dout)

    for factor in (2.0, 3.0):
        op = Custom(path, func_type="aot", bprop=scaled(factor))
        close(everywhere(op, (x, y), None).gradients, [factor * WEIGHTS, WEIGHTS])
        op = Custom(path, func_type="aot", bprop=lambda x, y, out, dout, f=factor: (f * dout, dout))
        close(everywhere(op, (x, y), None).gradients, [factor * WEIGHTS, WEIGHTS])


def test_a_method_of_the_network_itself(built):
    net = Layer(built("product") + ":product")
    x, y = draw(2, 3), draw(2, 3)
    weight = Tensor(WEIGHTS)

    def loss(x, y):
        return (net(x, y) * weight).sum()

    due = [WEIGHTS * wide(y), WEIGHTS * wide(x)]
    for mode in MODES:
        close(gradient(loss, (x, y), None, mode), due)


def test_a_rule_may_call_operators_itself(built, libraries):
    square = libraries("elementwise").square
    helper = libraries("fused_broadcast").fused_broadcast

    def rule(x, y, out, dout):
        return helper(dout, 0.0, y), square(x) * dout

    op = Custom(built("product") + ":product", func_type="aot", bprop=rule)
    x, y = draw(2, 3), draw(2, 3)
    made = everywhere(op, (x, y), None).gradients
    close(made, [WEIGHTS * wide(y), WEIGHTS * wide(x) ** 2])


def test_a_rule_without_source_is_refused_alike_in_each_mode(built):
    space = {}
    exec("def made(x, y, out, dout):\n    return dout * y, dout * x\n", space)
    x = draw(2, 3)

    def action(mode):
        op = Custom(built("product") + ":product", func_type="aot", bprop=space["made"])

        def loss(x, y):
            return op(x, y).sum()

        close(gradient(loss, (x, x), None, mode), [wide(x)] * 2)

    verdicts = {str(error) for error in refusals(action).values()}
    assert len(verdicts) == 1
    (words,) = verdicts
    assert words == "None" or ("product" in words and "source" in words)


@pytest.mark.parametrize(
    "rule",
    [
        lambda x, out, dout: (dout,),
        lambda x, y, dout: (dout, dout),
        lambda x, y, z, out, dout: (dout, dout, dout),
        lambda: (),
        3,
        "product",
    ],
    ids=["one input", "no out", "three inputs", "nothing", "number", "text"],
)
def test_a_rule_of_another_arity_is_refused_at_once(built, rule):
    with pytest.raises(opwright.Error, match="product") as caught:
        Custom(built("product") + ":product", func_type="aot", bprop=rule)
    assert caught.value.code.startswith(("GR", "CL"))


def test_operator_bprop_binds_a_rule(built, tmp_path):
    op = opwright.mindspore.op(built("product"), "product", bprop=product)
    x, y = draw(2, 3), draw(2, 3)
    made = everywhere(op, (x, y), None)
    same_bits(made.gradients, everywhere(Custom(built("product"), func_type="aot", bprop=product),
                                         (x, y), None, modes=("jit",)).gradients)  # fmt: skip


def test_the_decorator_binds_and_binds_anew(tmp_path):
    from operator_libraries import write_operator
    from operators import product as group

    folder = write_operator(tmp_path / "product", *group)
    (folder / "kernel.cpp").write_text(group[1] + "// another identity\n")
    op = opwright.load(folder).product
    x, y = draw(2, 3), draw(2, 3)

    @op.bprop
    def rule(x, y, out, dout):
        return dout * y, dout * x

    close(everywhere(op, (x, y), None).gradients, [WEIGHTS * wide(y), WEIGHTS * wide(x)])
    ones = np.ones((2, 3))
    custom = Custom(op)

    @ms.jit
    def by_handle(x, y):
        return op(x, y).sum()

    @ms.jit
    def by_custom(x, y):
        return custom(x, y).sum()

    before = (by_handle, by_custom)
    for compiled in before:
        close(ms.grad(compiled, (0, 1))(x, y), [wide(y), wide(x)])

    @op.bprop
    def other(x, y, out, dout):
        return dout, ops.neg(dout)

    close(everywhere(op, (x, y), None).gradients, [WEIGHTS, -WEIGHTS])
    close(everywhere(custom, (x, y), None).gradients, [WEIGHTS, -WEIGHTS])
    for compiled in before:
        close(ms.grad(compiled, (0, 1))(x, y), [ones, -ones])


def thrice(rule):
    @functools.wraps(rule)
    def bprop(x, y, out, dout):
        grads = rule(x, y, out, dout)
        return 3 * grads[0], 3 * grads[1]

    return bprop


def test_a_decorator_counts_in_every_mode(built):
    op = Custom(built("product") + ":product", func_type="aot", bprop=thrice(product))
    x, y = draw(2, 3), draw(2, 3)
    close(everywhere(op, (x, y), None).gradients, [3 * WEIGHTS * wide(y), 3 * WEIGHTS * wide(x)])


@pytest.mark.parametrize("mode", MODES)
def test_a_cell_is_a_rule_of_a_python_function(mode):
    x, y = draw(3), draw(3)
    op = Custom(np.multiply, first, first, "pyfunc", Rule())

    def loss(x, y):
        return op(x, y).sum()

    close(gradient(loss, (x, y), None, mode), [wide(y), wide(x)])

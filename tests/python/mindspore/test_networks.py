# SPDX-License-Identifier: Apache-2.0
"""Operators inside networks: mixed precision, copies, pickles, vmap."""

import copy
import pickle

import mindspore as ms
import numpy as np
import pytest
from calls import draw, wide
from mindspore import Parameter, Tensor, amp, nn, ops
from modes import close, mode_of, same_bits

import opwright
from opwright.mindspore import Custom


def product_rule(x, y, out, dout):
    return dout * y, dout * x


class Scaled(nn.Cell):
    """x times a weight, by an operator or by MindSpore's own product."""

    def __init__(self, op=None):
        super().__init__()
        self.op = op
        self.weight = Parameter(Tensor(np.linspace(0.5, 1.5, 3), ms.float32), name="weight")

    def construct(self, x):
        if self.op is None:
            return x * self.weight
        return self.op(x, self.weight)


class Net(nn.Cell):
    """The operator between layers that mixed precision changes."""

    def __init__(self, op=None):
        super().__init__()
        self.dense = nn.Dense(3, 3, weight_init="ones", bias_init="zeros")
        self.scaled = Scaled(op)

    def construct(self, x):
        return self.scaled(self.dense(x))


class Three(nn.Cell):
    """(x + w) * w"""

    def __init__(self, op):
        super().__init__()
        self.op = op

    def construct(self, x, w):
        return self.op(x, w, w)


def trained(op, level, mode):
    """(value, gradients of the parameters) of a network under mixed precision."""
    x = Tensor(np.linspace(-1, 1, 12).reshape(4, 3), ms.float32)
    with mode_of(mode):
        net = amp.auto_mixed_precision(Net(op), level)

        def loss(x):
            return ops.cast(net(x), ms.float32).sum()

        params = net.trainable_params()
        value, grads = ms.value_and_grad(loss, None, params)(x)
        return net(x), value, dict(zip((p.name for p in params), grads, strict=True))


@pytest.mark.parametrize("mode", ["pynative", "graph"])
@pytest.mark.parametrize("level", ["O0", "O1", "O2", "O3", "auto"])
def test_mixed_precision_is_that_of_the_native_expression(built, level, mode):  # D07
    op = Custom(built("product") + ":product", func_type="aot", bprop=product_rule)
    made, value, grads = trained(op, level, mode)
    due, due_value, due_grads = trained(None, level, mode)
    assert made.dtype == due.dtype
    tolerance = 1e-6 if level == "O0" else 1e-2
    close(made, due, tolerance)
    close(value, due_value, tolerance)
    assert list(grads) == list(due_grads)
    for name, grad in grads.items():
        assert grad.dtype == due_grads[name].dtype, name
        close(grad, due_grads[name], tolerance)


@pytest.mark.parametrize("level", ["O0", "O1", "O2", "O3", "auto"])
def test_mixed_precision_has_the_same_verdict_in_both_modes(libraries, level):  # D07
    """An operator of float32 and float64: right, or refused with its name."""
    op = libraries("fused_broadcast").fused_broadcast
    verdicts = {}
    for mode in ("pynative", "graph"):
        try:
            made = trained(Three(op), level, mode)
            verdicts[mode] = ("right", str(made[0].dtype))
            w = np.linspace(0.5, 1.5, 3)
            x = np.linspace(-1, 1, 12).reshape(4, 3).sum(1, keepdims=True)
            close(made[0], (x + w) * w, 1e-2)
        except opwright.DTypeError as error:
            assert "fused_broadcast" in str(error) and error.code == "CL002"
            verdicts[mode] = ("refused", str(error))
    assert verdicts["pynative"] == verdicts["graph"]
    if level in ("O0", "O1"):
        assert verdicts["graph"][0] == "right"


def holders(built, libraries):
    """Networks that hold an operator in each way, and the gradient due to each."""
    power = Custom(built("elementwise") + ":power", func_type="aot")
    power.add_prim_attr("exponent", 3)
    return {
        "operator": nn.SequentialCell(Scaled(libraries("product").product)),
        "Custom": Scaled(
            Custom(built("product") + ":product", func_type="aot", bprop=product_rule)
        ),
        "attributes": Powered(power),
    }


class Powered(nn.Cell):
    def __init__(self, op):
        super().__init__()
        self.op = op

    def construct(self, x):
        return self.op(x)


HOLDERS = ("operator", "Custom", "attributes")


@pytest.mark.parametrize("mode", ["pynative", "graph"])
@pytest.mark.parametrize("how", ["copy", "deepcopy", "pickle"])
@pytest.mark.parametrize("kind", HOLDERS)
def test_copies_of_a_network_compute_the_same(built, libraries, kind, how, mode):
    x = draw(2, 3, dtype=ms.float32)
    with mode_of(mode):
        net = holders(built, libraries)[kind]
        due = net(x)
        made = {
            "copy": copy.copy,
            "deepcopy": copy.deepcopy,
            "pickle": lambda value: pickle.loads(pickle.dumps(value)),
        }[how](net)
        same_bits(made(x), due)
        if kind != "operator":
            same_bits(ms.grad(made)(x), ms.grad(net)(x))
    close(due, wide(x) ** 3 if kind == "attributes" else wide(x) * np.linspace(0.5, 1.5, 3), 1e-6)


def test_a_copy_has_attributes_of_its_own(built):
    op = Custom(built("elementwise") + ":power", func_type="aot")
    op.add_prim_attr("exponent", 2)
    other = copy.deepcopy(op)
    other.add_prim_attr("exponent", 3)
    x = draw(3)
    close(op(x), wide(x) ** 2)
    close(other(x), wide(x) ** 3)


def test_a_pickled_operator_works_in_another_process(built, run_python, tmp_path):
    op = Custom(built("elementwise") + ":power", func_type="aot")
    op.add_prim_attr("exponent", 3)
    (tmp_path / "op.pickle").write_bytes(pickle.dumps(op))
    made = run_python(
        "import pickle, sys\n"
        "import mindspore as ms\n"
        "op = pickle.load(open(sys.argv[1], 'rb'))\n"
        "def loss(x):\n"
        "    return op(x).sum()\n"
        "x = ms.Tensor([1.0, 2.0], ms.float64)\n"
        "print(op(x).asnumpy().tolist(), ms.grad(loss)(x).asnumpy().tolist())\n",
        tmp_path / "op.pickle",
    )
    assert made.stdout.split("\n")[0] == "[1.0, 8.0] [3.0, 12.0]"


@pytest.mark.parametrize("compiled", [False, True], ids=["pynative", "jit"])
@pytest.mark.parametrize(
    ("axes", "shapes"),
    [((0, 0), ((5, 3), (5, 3))), ((0, None), ((5, 3), (3,))), ((1, 0), ((3, 5), (5, 3)))],
    ids=str,
)
def test_vmap_is_a_loop_over_slices(built, compiled, axes, shapes):
    op = Custom(built("product") + ":product", func_type="aot", bprop=product_rule)
    x, y = (draw(*shape) for shape in shapes)

    def call(x, y):
        return op(x, y)

    def loss(x, y):
        return (op(x, y) * op(x, y)).sum()

    def slopes(x, y):
        return ms.grad(loss, (0, 1))(x, y)

    mapped, mapped_slopes = ms.vmap(call, axes, 0), ms.vmap(slopes, axes, 0)
    if compiled:
        mapped, mapped_slopes = ms.jit(mapped), ms.jit(mapped_slopes)
    rows = [
        tuple(np.take(wide(v), k, axis) if axis is not None else wide(v)
              for v, axis in zip((x, y), axes, strict=True))
        for k in range(5)
    ]  # fmt: skip
    close(mapped(x, y), np.stack([a * b for a, b in rows]))
    made = mapped_slopes(x, y)
    close(made[0], np.stack([2 * a * b * b for a, b in rows]))
    close(made[1], np.stack([2 * a * a * b for a, b in rows]))


def test_vmap_of_an_operator_of_a_library(libraries):
    op = libraries("shapes").total
    x = draw(4, 3)

    def call(x):
        return op(x)

    close(ms.vmap(call)(x), wide(x).sum(1))


def test_a_checkpoint_is_loaded_into_a_network_with_operators(built, tmp_path):
    op = Custom(built("product") + ":product", func_type="aot", bprop=product_rule)
    net, other = Scaled(op), Scaled(op)
    net.weight.set_data(Tensor([3.0, 4.0, 5.0], ms.float32))
    ms.save_checkpoint(net, str(tmp_path / "net.ckpt"))
    ms.load_param_into_net(other, ms.load_checkpoint(str(tmp_path / "net.ckpt")))
    close(other(Tensor(np.ones((2, 3)), ms.float32)), np.tile([3.0, 4.0, 5.0], (2, 1)))

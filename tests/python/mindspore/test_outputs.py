# SPDX-License-Identifier: Apache-2.0
"""Several outputs of which some are used, inputs that need no gradient, parameters of a network."""

import mindspore as ms
import numpy as np
import pytest
from calls import draw, wide
from mindspore import Parameter, Tensor, nn
from modes import MODES, close, everywhere, gradient, mode_of
from operator_libraries import write_operator
from operators import TICK, TICK_SOURCE

import opwright


@pytest.mark.parametrize("used", [0, 1])
def test_one_of_two_outputs_is_used(libraries, used):  # G05
    x, y = draw(2, 3), draw(2, 3)
    weight = Tensor((np.arange(6) % 7 - 2.5).reshape(2, 3))
    weights = (weight, None) if used == 0 else (None, weight)
    made = everywhere(libraries("inputs").pair, (x, y), None, weights=weights)
    w = wide(weight)
    close(made.gradients, [w * wide(y), w * wide(x)] if used == 0 else [w, 3 * w])


@pytest.mark.parametrize("used", [0, 1])
def test_an_unused_output_counts_as_zeros(libraries, used):  # G05
    x = draw(2, 3)
    weight = draw(2) if used == 0 else draw(3)
    weights = (weight, None) if used == 0 else (None, weight)
    made = everywhere(libraries("several").sums, (x,), None, weights=weights)
    due = wide(weight)[:, None] if used == 0 else wide(weight)[None]
    close(made.gradients, np.broadcast_to(due, (2, 3)))


def test_outputs_of_other_dtypes_and_shapes(libraries):
    x = draw(2, 3, dtype=ms.float32)
    made = everywhere(libraries("several").parts, (x,), None)
    assert [value.dtype for value in made.values] == [ms.float32, ms.int32, ms.float64]
    assert [tuple(value.shape) for value in made.values] == [(2, 3), (3,), ()]
    close(made.gradients, 2 * (np.arange(6) % 7 - 2.5).reshape(2, 3) - 2.5)
    only = everywhere(
        libraries("several").parts, (x,), None, weights=(None, None, Tensor(2.0, ms.float64))
    )
    close(only.gradients, np.full((2, 3), 2.0))


def test_an_output_used_twice_adds_up(libraries):
    op = libraries("elementwise").square
    x = draw(4)
    both = everywhere(used_twice(op), (x,), (0,))
    close(both.values, wide(x) ** 2 + wide(x) ** 4)
    weights = np.arange(4) - 2.5
    close(both.gradients, weights * (2 * wide(x) + 4 * wide(x) ** 3))


def used_twice(op):
    def twice(x):
        y = op(x)
        return y + op(y)

    return twice


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("places", [(0,), (1,), (2,), (2, 0), (0, 1, 2)], ids=str)
def test_only_the_asked_gradients_come_in_the_asked_order(libraries, mode, places):
    op = libraries("fused_add_scale").fused_add_scale
    inputs = (draw(3, 4), draw(4), draw(4))
    weight = draw(3, 4)

    def loss(x, b, s):
        return (op(x, b, s) * weight).sum()

    def own(x, b, s):
        return ((x + b) * s * weight).sum()

    made = gradient(loss, inputs, places, mode)
    due = gradient(own, inputs, places)
    close(made, due, 1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_integer_inputs_beside_float_ones(libraries, mode):  # G16
    op = libraries("inputs").take_rows
    x = draw(5, 3, dtype=ms.float32)
    index = Tensor([4, 0, 4, 1], ms.int32)

    def loss(x, index):
        return op(x, index).sum()

    made = gradient(loss, (x, index), (0,), mode)
    due = np.zeros((5, 3))
    np.add.at(due, index.asnumpy(), 1)
    close(made, due)


@pytest.mark.parametrize("mode", ["pynative", "graph"])
@pytest.mark.parametrize("frozen", ["none", "bias", "scale", "both"])
def test_frozen_parameters_get_no_gradient(libraries, mode, frozen):  # G07
    class Layer(nn.Cell):
        def __init__(self):
            super().__init__()
            self.op = libraries("fused_add_scale").fused_add_scale
            self.bias = Parameter(
                draw(4), name="bias", requires_grad=frozen not in ("bias", "both")
            )
            self.scale = Parameter(
                draw(4), name="scale", requires_grad=frozen not in ("scale", "both")
            )

        def construct(self, x):
            return self.op(x, self.bias, self.scale).sum()

    x = draw(3, 4)
    with mode_of(mode):
        net = Layer()
        trained = net.trainable_params()
        value = net(x)
        if trained:
            made = ms.grad(net, None, trained)(x)
            made = made if isinstance(made, tuple) else (made,)
        due = {
            "bias": 3 * wide(net.scale),
            "scale": (wide(x) + wide(net.bias)).sum(0),
        }
        close(value, ((wide(x) + wide(net.bias)) * wide(net.scale)).sum())
        if trained:
            close(made, [due[p.name] for p in trained])
        close(ms.grad(net)(x), np.broadcast_to(wide(net.scale), (3, 4)))


def test_training_steps_are_those_of_the_native_expression(libraries):
    op = libraries("fused_add_scale").fused_add_scale
    x, target = draw(8, 4, dtype=ms.float32), draw(8, 4, dtype=ms.float32)

    class Layer(nn.Cell):
        def __init__(self, custom):
            super().__init__()
            self.custom = custom
            self.bias = Parameter(Tensor(np.zeros(4), ms.float32), name="bias")
            self.scale = Parameter(Tensor(np.ones(4), ms.float32), name="scale")

        def construct(self, x):
            if self.custom:
                return op(x, self.bias, self.scale)
            return (x + self.bias) * self.scale

    def trained(mode, custom):
        with mode_of(mode):
            net = Layer(custom)
            loss = nn.WithLossCell(net, nn.MSELoss())
            step = nn.TrainOneStepCell(loss, nn.SGD(net.trainable_params(), 0.1))
            losses = [float(step(x, target).asnumpy()) for _ in range(5)]
            return losses, net.bias.asnumpy(), net.scale.asnumpy()

    due = trained("pynative", False)
    for mode in ("pynative", "graph"):
        for made, expected in zip(trained(mode, True), due, strict=True):
            np.testing.assert_allclose(made, expected, rtol=1e-5, atol=1e-6)
    assert due[0][-1] < due[0][0]


@pytest.mark.parametrize("mode", MODES)
def test_without_a_backward_forward_works_and_a_gradient_is_refused(libraries, mode):  # G09
    op = libraries("element_add").element_add
    x = Tensor(np.ones(3), ms.float32)

    def loss(x, y):
        return op(x, y).sum()

    with mode_of("graph" if mode == "graph" else "pynative"):
        close(loss(x, x), np.asarray(6.0))
    with pytest.raises(opwright.GradientError, match="element_add") as caught:
        gradient(loss, (x, x), None, mode)
    assert caught.value.code == "GR001"


# MindSpore takes 3 s to give up a compiled graph.
@pytest.mark.parametrize("mode", ["pynative", "jit-grad", "graph"])
def test_an_error_of_a_backward_kernel_has_the_operators_name(libraries, mode):  # X01
    op = libraries("effects").fail

    def loss(x):
        return op(x, how="not").sum()

    with pytest.raises(RuntimeError, match=r"fail_grad: the kernel failed: .*backward words"):
        gradient(loss, (Tensor(np.ones(3), ms.float32),), None, mode)


@pytest.mark.parametrize(
    ("how", "mode"),
    [
        ("status", "pynative"),
        ("throw", "pynative"),
        ("throw int", "pynative"),
        ("throw int", "jit"),
        ("status", "graph"),
    ],
)
def test_an_error_of_a_kernel_has_the_operators_name(libraries, how, mode):  # X01
    op = libraries("effects").fail

    def call(x):
        return op(x, how=how)

    words = {"status": "status words 42", "throw": "thrown words"}.get(how, "")
    with pytest.raises(RuntimeError, match=f"fail: the kernel failed: .*{words}"):
        everywhere(call, (Tensor(np.ones(3), ms.float32),), modes=(mode,))
    close(op(Tensor(np.ones(3), ms.float32), how="not"), np.ones(3))


def test_an_error_of_a_result_that_is_never_read_is_told(built, run_python):  # X01
    """MindSpore alone would end with 0 and one line in its log."""
    made = run_python(
        "import sys\n"
        "import mindspore as ms\n"
        "import opwright\n"
        "op = opwright.load(sys.argv[1]).fail\n"
        "op(ms.Tensor([1.0, 2.0], ms.float32), how='status')\n"
        "print('the end')\n",
        built("effects"),
        status=None,
    )
    assert "fail: the kernel failed: status words 42" in made.stderr


def test_calls_with_an_effect_are_neither_merged_nor_dropped(tmp_path):
    tick = opwright.load(write_operator(tmp_path / "tick", TICK, TICK_SOURCE)).tick
    x = Tensor(np.zeros(1, np.float32))

    def twice(x):
        return tick(x), tick(x)

    def unused(x):
        tick(x)
        return x + 0

    for compiled in (twice, ms.jit(twice)):
        first, second = compiled(x)
        assert sorted([first.asnumpy()[0], second.asnumpy()[0]])[0] + 1 == max(
            first.asnumpy()[0], second.asnumpy()[0]
        )
    before = tick(x).asnumpy()[0]
    ms.jit(unused)(x).asnumpy()
    assert tick(x).asnumpy()[0] == before + 2

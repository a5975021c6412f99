# SPDX-License-Identifier: Apache-2.0
"""Dimensions and ranks that are known at run time only, forward and backward."""

import mindspore as ms
import numpy as np
import pytest
from calls import CASES, draw, numeric_gradient, wide
from mindspore import Tensor, ops
from modes import Net, called, close, fixed, flat, mode_of

import opwright
from opwright.mindspore import Custom

NAMED = {str(case): case for case in CASES}
SIZES = (2, 5)


def sized(case, rows):
    """Inputs of a case with `rows` in the dimension that is open."""
    f32 = {"dtype": ms.float32}
    return {
        "square": lambda: (draw(rows, 3),),
        "power": lambda: (draw(rows, 3),),
        "inverse": lambda: (draw(rows),),
        "fused_add_scale": lambda: (draw(rows, 4), draw(4), draw(4)),
        "fused_broadcast-3-ways": lambda: (draw(rows, 3), draw(3), draw(rows, 1)),
        "linear-bias": lambda: (draw(rows, 4), draw(4, 5), draw(5)),
        "pair": lambda: (draw(rows, 3), draw(rows, 3)),
        "greatest": lambda: (draw(rows, 3),),
        "take_rows": lambda: (draw(5, 3, **f32), Tensor([1, 0] * rows, ms.int32)),
        "repeat_rows": lambda: (draw(rows, 3),),
        "outer_flat": lambda: (draw(rows), draw(4)),
        "total": lambda: (draw(rows, 3),),
        "sums": lambda: (draw(rows, 3),),
        "parts": lambda: (draw(rows, 3, **f32),),
    }[str(case)]()


DYNAMIC = ["square", "power", "inverse", "fused_add_scale", "fused_broadcast-3-ways",
           "linear-bias", "pair", "greatest", "take_rows", "repeat_rows", "outer_flat", "total",
           "sums", "parts"]  # fmt: skip


def open_inputs(first, second, rank_unknown):
    """Descriptions of inputs: dimensions that differ between two calls are unknown."""
    made = []
    for a, b in zip(first, second, strict=True):
        shape = [m if m == n else None for m, n in zip(a.shape, b.shape, strict=True)]
        made.append(Tensor(shape=None if rank_unknown else shape, dtype=a.dtype))
    return made


def summed_squares(function):
    """A loss whose weights are the outputs themselves: no constant of a known shape is in it."""

    def loss(*inputs):
        made = function(*inputs)
        if not isinstance(made, tuple):
            return (made * made).sum()
        total = 0
        for value in made:
            if value.dtype in (ms.float32, ms.float64):
                total = total + (value * value).sum()
        return total

    return loss


def calls(function, inputs, how, positions=None):
    """A compiled function, or its gradient, with open dimensions; called with real inputs."""
    count = len(inputs[0])
    function = fixed(function, count)

    def gradients(*given):
        return ms.grad(function, positions)(*given)

    target = fixed(gradients, count) if positions else function
    described = open_inputs(*inputs, how == "rank")
    if how == "jit":
        # It wants to hear of open inputs only.
        named = {n: d for n, d in zip("abcd", described, strict=False) if -1 in d.shape}
        return ms.enable_dynamic(**named)(ms.jit(target))
    net = Net(target)
    net.set_inputs(*described)
    return net


def fresh(library, case):
    """An operator object of its own: what open dimensions leave behind is a test's of its own."""
    op = Custom(f"{library}:{case.operator}", func_type="aot")
    for name, value in case.attrs.items():
        op.add_prim_attr(name, value)
    return op


@pytest.mark.parametrize("how", ["dims", "rank"])
@pytest.mark.parametrize("name", DYNAMIC)
def test_values_are_numpys_for_every_size(built, name, how):
    case = NAMED[name]
    function = fresh(built(case.group), case)

    with mode_of("pynative" if how == "jit" else "graph"):
        call = calls(function, (sized(case, 2), sized(case, 5)), how)
        for rows in SIZES:
            inputs = sized(case, rows)
            close(call(*inputs), case.expected(inputs))


@pytest.mark.parametrize("how", ["dims", "rank", "jit"])
@pytest.mark.parametrize("name", DYNAMIC)
def test_gradients_are_those_of_finite_differences_for_every_size(built, name, how):
    case = NAMED[name]
    function = fresh(built(case.group), case)

    with mode_of("pynative" if how == "jit" else "graph"):
        call = calls(summed_squares(function), (sized(case, 2), sized(case, 5)), how, case.places)
        for rows in SIZES:
            inputs = sized(case, rows)
            made = call(*inputs)
            due = numeric_gradient(case, inputs)
            single = inputs[0].dtype == ms.float32
            assert [g.dtype for g in flat(made)] == [inputs[k].dtype for k in case.places]
            close(made, due, 1e-4 if single else 1e-7)


def product(x, y, out, dout):
    return dout * y, dout * x


@pytest.mark.parametrize("how", ["dims", "rank", "jit"])
def test_gradients_of_broadcast_inputs_are_summed_at_run_time(built, how):  # B08
    op = Custom(built("product") + ":product", func_type="aot", bprop=product)

    def loss(x, y):
        return (op(x, y) * op(x, y)).sum()

    shapes = [((2, 3), (1, 3)), ((1, 3), (4, 3)), ((4, 3), (4, 3)), ((1, 3), (1, 3))]
    with mode_of("pynative" if how == "jit" else "graph"):
        call = calls(
            loss, [tuple(map(draw0, pair)) for pair in (shapes[0], shapes[1])], how, (0, 1)
        )
        for one, two in shapes:
            x, y = draw(*one), draw(*two)
            made = call(x, y)
            dx = 2 * wide(x) * wide(y) ** 2
            dy = 2 * wide(x) ** 2 * wide(y)
            if one[0] == 1:
                dx = dx.sum(0, keepdims=True)
            if two[0] == 1:
                dy = dy.sum(0, keepdims=True)
            close(made, [dx, dy], 1e-12)


def draw0(shape):
    return draw(*shape)


def one_row(x, y, out, dout):
    return dout[:1] * y[:1], dout * x


def flattened(x, y, out, dout):
    return (dout * y).reshape(-1), dout * x


def doubled(x, y, out, dout):
    return ops.concat((dout, dout)), dout * x


# A compiled graph takes MindSpore 3 s to give up.
@pytest.mark.parametrize(
    ("rule", "how"),
    [(one_row, "dims"), (one_row, "rank"), (flattened, "dims"), (flattened, "rank"),
     (doubled, "jit")],
)  # fmt: skip
def test_a_gradient_of_a_wrong_shape_is_refused(built, rule, how):  # S10
    op = Custom(built("product") + ":product", func_type="aot", bprop=rule)

    def loss(x, y):
        return op(x, y).sum()

    both = ((draw(2, 3), draw(2, 3)), (draw(5, 3), draw(5, 3)))
    with mode_of("pynative" if how == "jit" else "graph"):
        with pytest.raises(RuntimeError, match=r"product: .*bprop.* input x") as caught:
            made = calls(loss, both, how, (0, 1))(*both[1])
            [value.asnumpy() for value in made]
        assert "GR005" in str(caught.value)


@pytest.mark.parametrize("how", ["dims", "rank", "jit"])
def test_a_short_answer_is_refused_whatever_the_shapes(built, how):  # G03
    def short(x, y, out, dout):
        return (dout * y,)

    op = Custom(built("product") + ":product", func_type="aot", bprop=short)

    def loss(x, y):
        return op(x, y).sum()

    both = ((draw(2, 3), draw(2, 3)), (draw(5, 3), draw(5, 3)))
    refused = pytest.raises(RuntimeError, match=r"product: .*1 gradient, 2 are due")
    with mode_of("pynative" if how == "jit" else "graph"), refused:
        calls(loss, both, how, (0, 1))(*both[1])


@pytest.mark.parametrize("how", ["rank", "jit"])
def test_what_the_metadef_forbids_is_refused_at_run_time(built, how):  # S09
    op = Custom(built("element_add"), func_type="aot")
    two, five = (Tensor(np.ones((n, 3)), ms.float32) for n in (2, 5))
    with mode_of("pynative" if how == "jit" else "graph"):
        call = calls(op, ((two, five), (five, two)), how)
        close(call(two, two), np.full((2, 3), 2.0))
        with pytest.raises(RuntimeError, match=r"element_add: .*\[2, 3\].*\[5, 3\]"):
            call(two, five).asnumpy()


@pytest.mark.parametrize("how", ["dims", "rank"])
def test_no_rows_among_open_dimensions(built, how):  # E01
    op = Custom(built("fused_add_scale"), func_type="aot")
    b, s = draw(4), draw(4)
    with mode_of("graph"):
        call = calls(summed_squares(op), ((draw(2, 4), b, s), (draw(5, 4), b, s)), how, (0, 1, 2))
        made = call(Tensor(np.zeros((0, 4))), b, s)
        close(made, [np.zeros((0, 4)), np.zeros(4), np.zeros(4)])
        made = call(draw(3, 4), b, s)
        assert tuple(made[0].shape) == (3, 4)


AFTERWARDS = """
import sys
import mindspore as ms
import numpy as np
import opwright

op = opwright.load(sys.argv[1]).fused_broadcast

class Net(ms.nn.Cell):
    def construct(self, x, b, s):
        return op(x, b, s)

def scaled(x):
    return op(x, 2, 0.5)

two, one = ms.Tensor(np.ones((2, 3))), ms.Tensor(np.ones(3))
ms.set_context(mode=ms.GRAPH_MODE)
net = Net()
net.set_inputs(ms.Tensor(shape=[None, 3], dtype=ms.float64), one, one)
net(two, one, one)
ms.set_context(mode=ms.PYNATIVE_MODE)
try:
    op(one, ms.Tensor(np.ones(4)), one)
except opwright.ShapeError as error:
    print(error.code, flush=True)
call = ms.jit(scaled) if sys.argv[2] == "jit" else scaled
print(call(one).asnumpy().tolist(), flush=True)
"""


@pytest.mark.parametrize("mode", ["pynative", "jit"])
def test_open_dimensions_leave_nothing_behind(built, run_python, mode):
    """In a process of its own: the next compilation of such an operator may crash."""
    made = run_python(AFTERWARDS, built("fused_broadcast"), mode)
    assert made.stdout.split("\n")[:2] == ["CL005", "[1.5, 1.5, 1.5]"]


def test_a_static_graph_after_an_open_one_of_the_same_custom(libraries):
    op = Custom(libraries("fused_broadcast").fused_broadcast)
    x, b = draw(2, 3), draw(3)
    net = Net(called(op, {}))
    net.set_inputs(*open_inputs((x, b, b), (draw(5, 3), b, b), False))
    ms.set_context(mode=ms.GRAPH_MODE)
    due = (wide(x) + wide(b)) * wide(b)
    close(net(x, b, b), due)
    close(Net(called(op, {}))(x, b, b), due)
    ms.set_context(mode=ms.PYNATIVE_MODE)
    close(op(x, b, b), due)
    with pytest.raises(opwright.ShapeError, match="2 inputs given"):
        op(x, b)

# SPDX-License-Identifier: Apache-2.0
"""What may come as an input: views, slices, empty and 0-d tensors, numbers, every float dtype."""

import mindspore as ms
import numpy as np
import pytest
from calls import draw, wide
from mindspore import Tensor, ops
from modes import FORWARD, MODES, close, everywhere, flat, forward, gradient, same_bits

import opwright


# Functions, not lambdas: MindSpore's parser reads only those.
def transpose(base):
    return base.T


def swapped(base):
    return base.swapaxes(0, 1)


def columns(base):
    return base[:, 1:3]


def steps(base):
    return base[::2]


def offset(base):
    return base[1:, 1:]


def expanded(base):
    return ops.broadcast_to(base[:1], (4, 6))


def half(base):
    return ops.chunk(base, 2, -1)[1]


def row(base):
    return base[2]


def element(base):
    return base[2, 3]


VIEWS = (transpose, swapped, columns, steps, offset, expanded, half, row, element)


@pytest.mark.parametrize("cut", VIEWS, ids=lambda cut: cut.__name__)
def test_views_give_the_values_of_dense_tensors(libraries, cut):  # C04 C05 C12
    square = libraries("elementwise").square
    base = draw(4, 6)

    def of_view(given):
        return square(cut(given))

    made = everywhere(of_view, (base,), (0,))
    part = cut(base).asnumpy()
    close(made.values, part**2)
    # The gradient of the whole: by MindSpore's own expression.
    weights = Tensor((np.arange(part.size) % 7 - 2.5).reshape(part.shape))
    due = ms.grad(lambda given: (cut(given) * cut(given) * weights).sum())(base)
    close(made.gradients, due)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", ["transposed", "sliced", "broadcast"])
def test_a_gradient_that_is_no_dense_tensor_is_read_right(libraries, mode, seed):  # C03
    op = libraries("fused_add_scale").fused_add_scale
    x, b, s = draw(3, 4), draw(4), draw(4)
    weight = draw(4, 3)

    def loss(x, b, s):
        y = op(x, b, s)
        if seed == "transposed":
            return (y.T * weight).sum()
        if seed == "sliced":
            return (y[:, 1:3] * weight[:3, :2]).sum()
        return (y.sum(0) * weight[:, 0]).sum()

    def own(x, b, s):
        y = (x + b) * s
        if seed == "transposed":
            return (y.T * weight).sum()
        if seed == "sliced":
            return (y[:, 1:3] * weight[:3, :2]).sum()
        return (y.sum(0) * weight[:, 0]).sum()

    close(gradient(loss, (x, b, s), None, mode), gradient(own, (x, b, s)))


@pytest.mark.parametrize("mode", FORWARD)
def test_memory_of_numpy_is_read_by_its_strides(libraries, mode):
    values = np.arange(24, dtype=np.float64).reshape(4, 6)
    for part in (values.T, values[:, ::2], values[::-1].copy()[1:]):
        made = forward(libraries("elementwise").square, (Tensor.from_numpy(part),), mode)
        close(made, part**2)


@pytest.mark.parametrize("shape", [(0,), (0, 4), (4, 0)], ids=str)
def test_no_elements_in_no_elements_out(libraries, shape):  # E01
    x = Tensor(np.zeros(shape), ms.float64)
    made = everywhere(libraries("elementwise").square, (x,), (0,))
    assert tuple(made.values.shape) == shape
    assert [tuple(g.shape) for g in flat(made.gradients)] == [shape]


def test_a_sum_over_no_elements_is_zero(libraries):  # E01
    x = Tensor(np.zeros((0, 4)), ms.float64)
    made = everywhere(libraries("several").sums, (x,), (0,))
    rows, columns = made.values
    assert tuple(rows.shape) == (0,)
    close(columns, np.zeros(4))
    made = everywhere(libraries("shapes").total, (x,), (0,))
    close(made.values, np.zeros(()))


def test_no_rows_give_gradients_of_zero_to_what_is_not_empty(libraries):  # E01
    inputs = (Tensor(np.zeros((0, 4)), ms.float64), draw(4), draw(4))
    made = everywhere(libraries("fused_add_scale").fused_add_scale, inputs, None)
    close(made.gradients, [np.zeros((0, 4)), np.zeros(4), np.zeros(4)])


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.float32, ms.float64], ids=str)
def test_each_float_column_gives_its_own_dtype(libraries, dtype):
    if dtype == ms.bfloat16 and int(np.__version__.split(".")[0]) >= 2:
        pytest.skip("MindSpore 2.10 compiles no bfloat16 constant with numpy 2")
    x = draw(4, 5, dtype=dtype)
    made = everywhere(libraries("elementwise").square, (x,), (0,))
    assert made.values.dtype == dtype
    assert [g.dtype for g in flat(made.gradients)] == [dtype]
    close(made.values, wide(x) ** 2)
    weights = (np.arange(20) % 7 - 2.5).reshape(4, 5)
    close(made.gradients, 2 * wide(x) * weights)


def test_mixed_floats_are_promoted_to_a_listed_column(libraries):  # D01
    x, b, s = draw(2, 3, dtype=ms.float16), draw(3), draw(3, dtype=ms.float32)
    made = everywhere(libraries("fused_broadcast").fused_broadcast, (x, b, s), None)
    assert made.values.dtype == ms.float64
    assert [g.dtype for g in made.gradients] == [ms.float16, ms.float64, ms.float32]
    close(made.values, (wide(x) + wide(b)) * wide(s))
    weights = (np.arange(6) % 7 - 2.5).reshape(2, 3)
    close(made.gradients[1], (weights * wide(s)).sum(0))
    close(made.gradients[0], weights * wide(s))
    close(made.gradients[2], (weights * (wide(x) + wide(b))).sum(0))


@pytest.mark.parametrize("mode", FORWARD)
@pytest.mark.parametrize(
    "dtypes",
    [(ms.float64, ms.float64), (ms.int32, ms.int32), (ms.float32, ms.int32), (ms.complex64,) * 2],
    ids=str,
)
def test_a_dtype_that_no_column_takes_is_refused(libraries, mode, dtypes):  # D04 D05
    inputs = tuple(Tensor(np.ones(2), dtype) for dtype in dtypes)
    with pytest.raises(opwright.DTypeError, match="element_add") as caught:
        forward(libraries("element_add").element_add, inputs, mode)
    assert caught.value.code == "CL002"


@pytest.mark.parametrize("mode", FORWARD)
def test_shapes_and_counts_are_checked(libraries, mode):  # S09 S10
    add, linear = libraries("element_add").element_add, libraries("inputs").linear
    two, three = Tensor(np.ones(2), ms.float32), Tensor(np.ones(3), ms.float32)
    for op, inputs, code in (
        (add, (two, three), "CL005"),
        (add, (two,), "CL001"),
        (add, (two, two, two), "CL001"),
        (linear, (draw(3, 4), draw(5, 2), None), "CL004"),
        (libraries("shapes").outer_flat, (draw(2, 3), draw(3)), "CL004"),
    ):
        with pytest.raises(opwright.ShapeError, match=op.name) as caught:
            forward(op, inputs, mode)
        assert caught.value.code == code, str(caught.value)


@pytest.mark.parametrize("dtype", [ms.float32, ms.float64], ids=str)
def test_numbers_take_the_dtype_of_the_tensors(libraries, dtype):
    op = libraries("fused_broadcast").fused_broadcast

    def scaled(x):
        return op(x, 2, 0.5)

    x = draw(3, dtype=dtype)
    made = everywhere(scaled, (x,), (0,))
    assert made.values.dtype == dtype
    close(made.values, (wide(x) + 2) * 0.5)
    close(made.gradients, 0.5 * (np.arange(3) - 2.5))


@pytest.mark.parametrize("mode", FORWARD)
def test_numbers_as_inputs_of_a_compiled_function(libraries, mode):
    """Here the numbers are arguments of the function itself, not constants in it."""
    op = libraries("fused_broadcast").fused_broadcast
    x = draw(3)
    close(forward(op, (x, 2, 0.5), mode), (wide(x) + 2) * 0.5)
    close(forward(op, (x, True, 3), mode), (wide(x) + 1) * 3)


def test_one_tensor_as_two_inputs(libraries):
    op = libraries("inputs").pair

    def both(x):
        return op(x, x)

    x = draw(2, 3)
    made = everywhere(both, (x,), (0,))
    close(made.values, [wide(x) ** 2, 4 * wide(x)])
    weights = (np.arange(6) % 7 - 2.5).reshape(2, 3)
    close(made.gradients, 2 * wide(x) * weights + 4 * weights)


def test_inputs_by_name(libraries):  # G22
    op = libraries("inputs").linear
    x, w, bias = draw(2, 3), draw(3, 4), draw(4)

    def named(x, w, bias):
        return op(x, bias=bias, w=w)

    close(everywhere(named, (x, w, bias), None).values, wide(x) @ wide(w) + wide(bias))


@pytest.mark.parametrize("mode", FORWARD)
def test_numpy_beside_tensors_is_refused(libraries, mode):
    op, x = libraries("element_add").element_add, Tensor(np.ones(2), ms.float32)
    with pytest.raises((opwright.Error, TypeError)) as caught:
        forward(op, (x, np.ones(2, np.float32)), mode)
    if mode == "pynative":
        assert caught.value.code == "CL013"


def test_an_output_is_never_an_inputs_memory(libraries):  # G11
    x = Tensor(np.ones(64), ms.float32)
    made = libraries("effects").fail(x, how="not")
    made.asnumpy()[:] = 0
    assert (x.asnumpy() == 1).all()
    same_bits(made, Tensor(np.zeros(64), ms.float32))


@pytest.mark.parametrize("number", [2, True, 2.0, 0.1])
def test_a_number_beside_a_tensor_in_a_compiled_gradient(libraries, number):
    """y = (x + b) * s has the gradient s by x. To MindSpore the number is a float32."""
    op = libraries("fused_broadcast").fused_broadcast
    one = Tensor(np.ones(3))

    def scaled(x):
        return op(x, one, number)

    for mode in MODES:
        made = gradient(scaled, (draw(3),), (0,), mode)
        close(made, [np.full(3, float(number))], 1e-7)


@pytest.mark.parametrize("mode", FORWARD)
def test_a_number_has_seven_digits_of_a_float64_operator_too(libraries, mode):
    """MindSpore makes it float32 before the operator sees it; a tensor keeps all digits."""
    op = libraries("fused_broadcast").fused_broadcast
    x, third = draw(4), Tensor(1 / 3, ms.float64)

    def by_number(x):
        return op(x, 1 / 3, 0.1)

    def by_tensor(x):
        return op(x, third, 0.1)

    scale = float(np.float32(0.1))
    due = (wide(x) + float(np.float32(1 / 3))) * scale
    close(forward(by_number, (x,), mode), due, 1e-15)
    close(forward(by_tensor, (x,), mode), (wide(x) + 1 / 3) * scale, 1e-15)

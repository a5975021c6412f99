# SPDX-License-Identifier: Apache-2.0
"""Python functions as operators: what they return is what was declared, or an error in words."""

import functools

import mindspore as ms
import numpy as np
import pytest
from calls import draw, wide
from mindspore import Tensor
from modes import FORWARD, close, everywhere, forward

import opwright
from opwright.mindspore import Custom

NUMPY_2 = int(np.__version__.split(".")[0]) >= 2


def first(x):
    return x


def reversed_view(x):
    return x[::-1]


def short(x):
    return x[:1]


def ints(x):
    return x.astype(np.int32)


def nothing(x):
    return None


def column(x):
    return x.reshape(3, 1)


@pytest.mark.parametrize("mode", FORWARD)
def test_a_view_is_read_by_its_strides(mode):
    x = draw(3)
    close(forward(Custom(reversed_view, first, first), (x,), mode), wide(x)[::-1])


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (short, r"returned shape \[1\], out_shape says \[3\]"),
        (column, r"returned shape \[3, 1\], out_shape says \[3\]"),
        (ints, "returned int32, out_dtype says float64"),
        (nothing, "returned a NoneType, an array is due"),
    ],
)
@pytest.mark.parametrize("mode", FORWARD)
def test_another_result_than_was_declared_is_refused(function, words, mode):
    with pytest.raises(RuntimeError, match=words):
        forward(Custom(function, first, first), (draw(3),), mode).asnumpy()


def test_results_of_several_outputs_are_counted():
    def two(x):
        return x, x

    op = Custom(two, ([3], [3], [3]), (ms.float32, ms.float32, ms.float32))
    with pytest.raises(RuntimeError, match="returned 2 arrays, 3 are due"):
        op(Tensor(np.ones(3, np.float32)))[0].asnumpy()


# ---- What can be called --------------------------------------------------------------------------


class Scaled:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, x):
        return self.factor * x

    def method(self, x):
        return self(x)


def scaled(factor, x, *, offset=0.0):
    return factor * x + offset


def decorated(function):
    @functools.wraps(function)
    def call(*arrays):
        return 2 * function(*arrays)

    return call


@decorated
def doubled(x):
    return x


CALLABLES = {
    "partial": (functools.partial(scaled, 3.0, offset=1.0), lambda x: 3 * x + 1),
    "object": (Scaled(3.0), lambda x: 3 * x),
    "method": (Scaled(3.0).method, lambda x: 3 * x),
    "ufunc": (np.exp, np.exp),
    "builtin": (np.ascontiguousarray, lambda x: x),
    "decorated": (doubled, lambda x: 2 * x),
    "lambda": (lambda x: 2 * x, lambda x: 2 * x),
    "default": (lambda x, factor=3: factor * x, lambda x: 3 * x),
}


def passed(x, out, dout):
    return (5 * dout,)


@pytest.mark.parametrize("form", CALLABLES)
def test_whatever_can_be_called_is_an_operator(form):
    function, due = CALLABLES[form]
    x = draw(2, 3)
    made = everywhere(Custom(function, first, first, "pyfunc", passed), (x,), (0,))
    close(made.values, due(wide(x)))
    close(made.gradients, 5 * (np.arange(6) % 7 - 2.5).reshape(2, 3))


def added(*arrays):
    return sum(arrays)


def first_of(x, *rest):
    return x


@pytest.mark.parametrize("mode", FORWARD)
def test_one_operator_takes_another_number_of_inputs_at_each_call(mode):
    op = Custom(added, first_of, first_of)
    x, y = draw(3), draw(3)

    def call(x, y):
        return op(x), op(x, y), op(x, y, x), op(y)

    a, b = wide(x), wide(y)
    close(forward(call, (x, y), mode), [a, a + b, 2 * a + b, b])


@pytest.mark.parametrize("mode", FORWARD)
def test_numbers_arrive_as_numbers(mode):
    def told(x, a, b, c):
        assert [type(each) for each in (a, b, c)] == [float, int, bool]
        return x * a + b + c

    op = Custom(told, first_of, first_of)

    def call(x):
        return op(x, 0.5, 3, True)

    x = draw(3)
    close(forward(call, (x,), mode), wide(x) / 2 + 4)


@pytest.mark.skipif(NUMPY_2, reason="MindSpore gives bfloat16 to no numpy 2")
def test_bfloat16_in_and_out():
    def doubled(x):
        assert x.dtype.name == "bfloat16"
        return (2 * x.astype(np.float32)).astype(x.dtype)

    x = draw(4, dtype=ms.bfloat16)
    made = everywhere(Custom(doubled, first, first, "pyfunc", passed), (x,), (0,))
    assert made.values.dtype == ms.bfloat16
    close(made.values, 2 * wide(x))


@pytest.mark.skipif(not NUMPY_2, reason="right with numpy 1")
@pytest.mark.parametrize("mode", FORWARD)
def test_bfloat16_is_refused_where_numpy_has_none(mode):
    with pytest.raises(opwright.DTypeError, match=r"first: input 0 is bfloat16.*CL002"):
        forward(Custom(first, first, first), (Tensor(np.ones(3), ms.bfloat16),), mode)


@pytest.mark.parametrize("dtype", [ms.float16, ms.float32, ms.float64, ms.int8, ms.uint64], ids=str)
def test_0_d_tensors_come_and_go_as_arrays_of_their_dtype(dtype):
    def squared(x):
        assert isinstance(x, np.ndarray) and x.shape == ()
        return np.square(x)

    x = Tensor(3, dtype)
    made = everywhere(Custom(squared, first, first), (x,))
    assert made.values.dtype == dtype
    close(made.values, np.array(9))


def halved(x):
    return x * 0.5


def of_python(x):
    return float(x) / 2


def of_numpy(x):
    return np.float64(x) / 2


@pytest.mark.parametrize("mode", FORWARD)
@pytest.mark.parametrize("function", [halved, of_python, of_numpy])
def test_a_number_is_of_the_dtype_that_is_declared(function, mode):
    op = Custom(function, [], ms.float32)

    def call(x):
        return op(x), op(3.0)

    made = forward(call, (Tensor(3.0, ms.float32),), mode)
    assert [each.dtype for each in made] == [ms.float32, ms.float32]
    close(made, (np.array(1.5), np.array(1.5)))


@pytest.mark.parametrize(
    ("value", "dtype"), [(7, ms.uint64), (np.int64(-7), ms.int8), (3, ms.float16), (True, ms.int32)]
)
def test_a_whole_number_is_of_any_dtype_that_holds_it(value, dtype):
    made = Custom(lambda x: value, [], dtype)(draw(2))
    assert made.dtype == dtype
    close(made, np.array(float(value)))


@pytest.mark.parametrize(("value", "dtype"), [(300, ms.int8), (-1, ms.uint8), (0.5, ms.int32)])
def test_a_number_that_the_dtype_does_not_hold_is_refused(value, dtype):
    with pytest.raises(RuntimeError, match=r"the function returned .*CL020"):
        Custom(lambda x: value, [], dtype)(draw(2)).asnumpy()


@pytest.mark.parametrize("mode", FORWARD)
def test_an_array_of_another_byte_order_is_converted(mode):
    def swapped(x):
        return x.astype(x.dtype.newbyteorder())

    x = draw(3)
    close(forward(Custom(swapped, first, first), (x,), mode), wide(x))


def test_several_outputs_come_in_a_tuple():
    op = Custom(lambda x: [x, x], ([3], [3]), (ms.float64, ms.float64))
    with pytest.raises(RuntimeError, match="returned a list, a tuple is due"):
        op(draw(3))[0].asnumpy()


def test_one_operator_with_and_without_dimensions():
    op = Custom(np.add, first_of, first_of)
    for x, y in ((draw(), draw()), (draw(2), draw()), (draw(2), 0.5), (draw(), 0.5)):
        close(everywhere(op, (x, y)).values, wide(x) + wide(y))


def test_vmap_by_slices():
    op = Custom(np.multiply, first_of, first_of)
    x, y = draw(3), draw(3)

    def call(x, y):
        return op(x, y)

    close(ms.vmap(call)(x, y), wide(x) * wide(y))


def complex_sum(x):
    return np.complex64(x.sum())


@pytest.mark.parametrize("mode", FORWARD)
def test_what_mindspore_makes_no_number_of_is_refused(mode):
    for dtype in (ms.bfloat16, ms.complex64) if not NUMPY_2 else (ms.complex64,):
        words = rf"first: input 0 is {str(dtype).lower()} of shape \[\].*CL002"
        with pytest.raises(opwright.DTypeError, match=words):
            forward(Custom(first, first, first), (Tensor(1, ms.float32).astype(dtype),), mode)
    with pytest.raises(opwright.DTypeError, match=r"output 0 is complex64 of shape \[\].*CL002"):
        forward(Custom(complex_sum, [], ms.complex64), (draw(3),), mode)


# ---- Tensors without elements --------------------------------------------------------------------


def never(*arrays):
    raise AssertionError("there is nothing to compute")


def second(x, y):
    return y


@pytest.mark.parametrize("shape", [(0,), (0, 4), (4, 0)], ids=str)
def test_a_function_without_elements_to_make_is_not_called(shape):
    x = Tensor(np.zeros(shape), ms.float64)
    made = everywhere(Custom(never, first, first, "pyfunc", passed), (x,), (0,))
    assert made.values.shape == made.gradients.shape == shape
    op = Custom(never, ([0], [2, 0]), (ms.float32, ms.int32))
    some, none = Tensor(np.ones(3)), Tensor(np.zeros(0))
    for inputs in ((some,), (none,)):
        values = everywhere(op, inputs).values
        assert [(tuple(v.shape), v.dtype) for v in values] == [
            ((0,), ms.float32),
            ((2, 0), ms.int32),
        ]


def test_one_operator_with_and_without_elements():
    op = Custom(lambda x: 2 * x, first, first)
    for rows in (2, 0, 3):
        x = draw(rows, 2)
        close(everywhere(op, (x,)).values, 2 * wide(x))


def cut(x):
    return x, x[:0]


@pytest.mark.parametrize("mode", FORWARD)
def test_an_empty_array_beside_an_output_with_elements_is_refused(mode):
    with pytest.raises(opwright.ShapeError, match=r"second: input 0 has shape \[0, 4\].*CL004"):
        forward(Custom(second, second, second), (draw(0, 4), draw(3)), mode)
    with pytest.raises(opwright.ShapeError, match=r"cut: output 1 has shape \[0\].*CL004"):
        forward(Custom(cut, ([3], [0]), (ms.float64, ms.float64)), (draw(3),), mode)

# SPDX-License-Identifier: Apache-2.0
"""Which dtypes a call takes, mixes, and refuses; byte order; numbers of Python and numpy."""

import ml_dtypes
import numpy as np
import pytest
from operators import ALL_DTYPES

import opwright

F32 = np.float32([1, 2])
F64 = np.float64([0.5, 0.25])


def numpy_dtype(name):
    if name == "bfloat16":
        return ml_dtypes.bfloat16
    return name


# D11, D12
@pytest.mark.parametrize("name", ALL_DTYPES)
def test_every_listed_dtype_goes_through_as_it_is(lib, name):
    x = np.array([0, 1, 1, 0, 1]).astype(numpy_dtype(name))
    y = lib.echo(x)
    assert y.dtype == x.dtype and np.array_equal(x, y)


@pytest.mark.parametrize("name", ["complex64", "complex128"])
def test_complex_values_keep_both_parts(lib, name):
    x = np.array([1 + 2j, -3 - 0.5j], name)
    assert np.array_equal(lib.echo(x), x)


def test_half_keeps_infinities_and_subnormals(lib):
    x = np.array([np.inf, -np.inf, 6e-8, -0.0, 65504], np.float16)
    assert np.array_equal(lib.echo(x).view(np.uint16), x.view(np.uint16))


# D04
@pytest.mark.parametrize("name", [name for name in ALL_DTYPES if name != "float32"])
def test_a_dtype_that_is_not_listed_is_named_before_the_kernel_runs(lib, name):
    x = np.ones(4).astype(numpy_dtype(name))
    with pytest.raises(TypeError, match=f"twice: dtype {name} of input x not in metadef") as caught:
        lib.twice(x)
    assert isinstance(caught.value, opwright.DTypeError) and caught.value.code == "CL002"
    assert "(float32)" in str(caught.value)


# D05
def test_float64_is_never_read_as_float32(lib):
    for x in (np.float64([1, 2, 3, 4]), np.int32([1, 2, 3, 4])):
        with pytest.raises(TypeError):
            lib.twice(x)
        with pytest.raises(TypeError):
            lib.element_add(np.float32([1, 2, 3, 4]), x.astype(np.int32))


@pytest.mark.parametrize(
    "x",
    [
        np.array(["a"]),
        np.array([object()]),
        np.array(["2020-01-01"], "datetime64[D]"),
        np.zeros(2, [("a", "f4")]),
        np.ones(2, np.longdouble),
        np.ones(2, np.clongdouble),
    ],
)
def test_dtypes_that_no_operator_has_are_refused(lib, x):
    for op in (lib.twice, lib.echo):
        with pytest.raises(opwright.DTypeError, match=f"{op.name}: .*dtype"):
            op(x)


# D01
def test_mixed_floats_go_to_the_column_that_holds_both(lib):
    for got in (lib.element_add(F32, F64), lib.element_add(F64, F32)):
        assert got.dtype == np.float64 and got.tolist() == [1.5, 2.25]
    wide = lib.wide_add(F32, F64)
    assert wide.dtype == np.float64


# D01
def test_one_float_dtype_alone_is_never_converted(lib):
    with pytest.raises(opwright.DTypeError) as caught:
        lib.wide_add(F32, F32)
    assert caught.value.code == "CL002"


# D01
def test_mixed_floats_are_an_error_where_the_metadef_says_so(lib):
    with pytest.raises(opwright.DTypeError, match="mixed float dtypes") as caught:
        lib.strict_add(F32, F64)
    assert caught.value.code == "CL003"
    assert lib.strict_add(F64, F64).dtype == np.float64


# D01
def test_mixed_floats_become_float32_where_the_metadef_says_so(lib):
    for got in (lib.single_add(F32, F64), lib.single_add(np.float16([1, 2]), F32)):
        assert got.dtype == np.float32
    assert lib.single_add(F32, np.float64([1e-30, 2])).tolist() == [1.0, 4.0]
    with pytest.raises(opwright.DTypeError):
        lib.single_add(F64, F64)


def test_mixing_floats_with_integers_is_an_error(lib):
    with pytest.raises(opwright.DTypeError, match="int64"):
        lib.element_add(F32, np.int64([1, 2]))


@pytest.mark.parametrize("number", [2, 2.0, True, -3, 0.1])
def test_python_numbers_take_the_dtype_of_the_tensors(lib, number):
    for x in (F32, F64):
        for got in (lib.element_add(x, number), lib.element_add(number, x)):
            assert got.dtype == x.dtype
            assert np.array_equal(got, x + x.dtype.type(number))


def test_numbers_alone_are_0_d(lib):
    got = lib.element_add(2, 3.5)
    assert got.shape == () and got == 5.5


def test_a_number_that_its_dtype_cannot_hold_is_refused(lib):
    for call in (lambda: lib.element_add(F32, 2**70), lambda: lib.echo(300)):
        with pytest.raises(opwright.CallError):
            call()


def test_numpy_scalars_are_0_d_arrays_with_a_dtype_of_their_own(lib):
    assert lib.element_add(F32, np.float32(2)).dtype == np.float32
    assert lib.element_add(F32, np.float64(2)).dtype == np.float64
    got = lib.twice(np.float32(4))
    assert got.shape == () and got == 8
    assert lib.echo(np.True_) == np.True_
    with pytest.raises(opwright.DTypeError):
        lib.twice(np.int8(4))


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("name", ["i2", "u4", "i8", "f2", "f4", "f8", "c8", "c16"])
def test_foreign_byte_order_keeps_the_values(lib, order, name):
    x = np.array([1, 2, 300 % 256, 4]).astype(order + name)
    y = lib.echo(x)
    assert y.dtype.isnative and np.array_equal(x, y)


def test_foreign_byte_order_in_a_list_keeps_the_values(lib):
    parts = [np.array([1, 2], ">f4"), F32, np.array([3], ">f4")]
    assert lib.join(parts).tolist() == [1, 2, 1, 2, 3]

# SPDX-License-Identifier: Apache-2.0
"""Strides, alignment, empty and 0-d arrays, and arrays given for outputs."""

import numpy as np
import pytest

import opwright


def base(*shape):
    return np.arange(1, 1 + np.prod(shape), dtype=np.float32).reshape(shape)


# A field of a packed struct: strides of 6 bytes, which are no whole number of floats.
PACKED = np.zeros(4, dtype=[("tag", "i2"), ("value", "f4")])
PACKED["value"] = [1, 2, 3, 4]
ALIGNED = np.zeros(4, dtype=[("tag", "i4"), ("value", "f4")])
ALIGNED["value"] = [1, 2, 3, 4]

VIEWS = {
    "transposed": base(3, 4).T,
    "transposed 3-d": base(2, 3, 4).transpose(2, 0, 1),
    "Fortran order": np.asfortranarray(base(3, 5)),
    "slice with a step": base(20)[3:17:3],
    "rows and columns left out": base(6, 8)[1::2, ::3],
    "negative stride": base(7)[::-1],
    "negative strides in two dimensions": base(3, 4)[::-1, ::-2],
    "zero stride": np.broadcast_to(base(4), (3, 4)),
    "zero stride of one value": np.broadcast_to(np.float32(2), (2, 5)),
    "dimension of size 1 with an odd stride": base(4, 6)[:, 2:3],
    "field of a packed struct": PACKED["value"],
    "field of an aligned struct": ALIGNED["value"],
    "misaligned": np.frombuffer(b"x" + base(5).tobytes(), np.uint8)[1:].view("f4"),
    "read-only": np.frombuffer(base(5).tobytes(), np.float32),
}


# C01 C04 C05 C07 C10 C12
@pytest.mark.parametrize("name", VIEWS)
def test_the_values_count_however_they_lie_in_memory(lib, name):
    x = VIEWS[name]
    y = lib.twice(x)
    assert y.shape == x.shape and np.array_equal(y, x * 2)
    assert y.flags.c_contiguous and y.flags.writeable


# C04 C12
@pytest.mark.parametrize("name", VIEWS)
def test_views_go_into_functions_over_views(lib, name):
    x = VIEWS[name]
    assert np.array_equal(lib.element_add(x, x), x + x)
    assert np.array_equal(lib.element_add(x, np.float32(1)), x + 1)


def test_inputs_are_as_they_were(lib):
    for x in VIEWS.values():
        before = x.copy()
        lib.twice(x)
        assert np.array_equal(before, x)


def test_broadcasting_is_numpys(lib):
    for a, b in [((4, 3), (3,)), ((4, 1), (1, 5)), ((), (2, 3)), ((2, 1, 3), (4, 1)), ((1,), (0,))]:
        x, y = base(*a), base(*b)
        assert np.array_equal(lib.element_add(x, y), x + y)
    with pytest.raises(ValueError, match="element_add"):
        lib.element_add(base(3), base(4))


def test_outputs_are_aligned_and_own_their_memory(lib):
    kept = [lib.twice(base(k)) for k in range(1, 200)]
    assert all(y.ctypes.data % 64 == 0 for y in kept)
    assert all(np.array_equal(y, base(k + 1) * 2) for k, y in enumerate(kept))


# E01
@pytest.mark.parametrize("shape", [(0,), (0, 3), (3, 0), (2, 0, 4)])
def test_empty_arrays_give_empty_ones(lib, shape):
    x = np.empty(shape, np.float32)
    assert lib.twice(x).shape == shape
    assert lib.element_add(x, x).shape == shape


# E01
def test_an_empty_inner_dimension_still_runs_the_kernel(lib):
    c = lib.matmul(np.empty((2, 0), np.float32), np.empty((0, 3), np.float32))
    assert c.tolist() == [[0, 0, 0], [0, 0, 0]]


# E03
def test_0_d_arrays_stay_0_d(lib):
    x = np.array(3, np.float32)
    y = lib.twice(x)
    assert isinstance(y, np.ndarray) and y.shape == () and y == 6


# S09
def test_a_matrix_for_a_vector_says_what_any_rank_is(lib):
    with pytest.raises(opwright.ShapeError, match="rank 1") as caught:
        lib.vector(base(2, 3))
    assert caught.value.code == "CL004" and "[-2]" in str(caught.value)
    assert "[2, 3]" in str(caught.value)
    with pytest.raises(opwright.ShapeError):
        lib.vector(np.array(1, np.float32))


# S01
def test_named_dimensions_must_agree(lib):
    a, b = base(2, 3), base(3, 4)
    assert np.array_equal(lib.matmul(a, b), a @ b)
    with pytest.raises(opwright.ShapeError, match=r"matmul: .*k") as caught:
        lib.matmul(a, base(4, 4))
    assert "3" in str(caught.value) and "4" in str(caught.value)


# S01
def test_a_shape_rule_that_would_be_negative_says_the_values(lib):
    assert lib.shrink(base(5)).tolist() == [1, 2, 3]
    assert lib.shrink(base(5), by=5).shape == (0,)
    with pytest.raises(opwright.ShapeError, match=r"shrink: .*-1") as caught:
        lib.shrink(base(5), by=6)
    assert caught.value.code == "CL005"


# S01
def test_shapes_that_must_be_equal_are_both_named(lib):
    with pytest.raises(opwright.ShapeError, match=r"\[2\].*\[3\]"):
        lib.sum_and_difference(base(2), base(3))


# G15
def test_out_is_written_and_returned_itself(lib):
    x, out = base(4), np.zeros(4, np.float32)
    assert lib.twice(x, out=out) is out and np.array_equal(out, x * 2)
    strided = np.zeros((3, 8), np.float32)
    view = strided[:, ::2]
    assert lib.twice(base(3, 4), out=view) is view
    assert np.array_equal(view, base(3, 4) * 2) and not strided[:, 1::2].any()
    back = np.zeros(4, np.float32)
    lib.twice(x, out=back[::-1])
    assert back.tolist() == [8, 6, 4, 2]
    assert np.array_equal(lib.twice(x, out=None), x * 2)


# G15
def test_several_outs_are_a_tuple(lib):
    x, y = base(3), np.ones(3, np.float32)
    outs = (np.zeros(3, np.float32), np.zeros(3, np.float32))
    got = lib.sum_and_difference(x, y, out=outs)
    assert got is outs and outs[0].tolist() == [2, 3, 4] and outs[1].tolist() == [0, 1, 2]
    with pytest.raises(opwright.ShapeError, match=r"1 tensor.*2 outputs"):
        lib.sum_and_difference(x, y, out=outs[0])
    with pytest.raises(opwright.ShapeError, match="3 tensors"):
        lib.sum_and_difference(x, y, out=[*outs, outs[0]])


# G15
@pytest.mark.parametrize(
    ("out", "words"),
    [
        (np.zeros(5, np.float32), r"\[4\]"),
        (np.zeros((4, 1), np.float32), r"\[4\]"),
        (np.zeros(4, ">f4"), "byte order"),
        (np.broadcast_to(np.float32(0), 4), "writeable"),
        (np.broadcast_to(np.zeros(1, np.float32), (4,)), "writeable"),
        ([0.0] * 4, "4 tensors"),
        (3.0, "numpy array"),
    ],
)
def test_an_out_that_does_not_fit_is_refused_unwritten(lib, out, words):
    with pytest.raises(opwright.ShapeError, match=words):
        lib.twice(base(4), out=out)
    if isinstance(out, np.ndarray):
        assert not out.any()


# G15
@pytest.mark.parametrize("dtype", [np.float64, np.int32])
def test_an_out_of_another_dtype_is_a_dtype_error(lib, dtype):
    out = np.zeros(4, dtype)
    with pytest.raises(opwright.DTypeError, match="float32 is due") as caught:
        lib.twice(base(4), out=out)
    assert caught.value.code == "CL015" and not isinstance(caught.value, opwright.ShapeError)
    assert not out.any()


# G15
def test_an_out_that_overlaps_itself_is_refused(lib):
    memory = np.zeros(4, np.float32)
    out = np.lib.stride_tricks.as_strided(memory, (4,), (0,), writeable=True)
    with pytest.raises(opwright.ShapeError):
        lib.twice(base(4), out=out)


# G15
def test_an_out_that_overlaps_an_input_is_right_or_refused(lib):
    for shift in (0, 1, 3):
        memory = base(10)
        x, out = memory[:6], memory[shift : shift + 6]
        want = x * 2
        try:
            lib.twice(x, out=out)
        except opwright.ShapeError as error:
            assert error.code == "CL008"
            assert np.array_equal(memory, base(10))
        else:
            assert np.array_equal(out, want)
    matrix = base(3, 3)
    want = matrix @ matrix
    try:
        lib.matmul(matrix, matrix, out=matrix)
    except opwright.ShapeError:
        assert np.array_equal(matrix, base(3, 3))
    else:
        assert np.array_equal(matrix, want)


def test_a_subclass_of_ndarray_is_an_array(lib):
    matrix = np.ma.masked_array(base(4), mask=False)
    assert np.array_equal(lib.twice(matrix), base(4) * 2)


# G10
def test_an_input_that_is_written_changes_in_place_whatever_its_strides(lib):
    x = base(4)
    assert lib.increment(x).tolist() == [1, 2, 3, 4] and x.tolist() == [2, 3, 4, 5]
    memory = np.zeros((3, 4), np.float32)
    lib.increment(memory.T[1::2])
    assert memory.tolist() == [[0, 1, 0, 1]] * 3


# G10
@pytest.mark.parametrize(
    "x",
    [
        np.broadcast_to(np.float32(1), (3,)),
        np.frombuffer(np.float32([1, 2]).tobytes(), np.float32),
        np.array([1, 2], ">f4"),
        PACKED["value"],
        np.float32(3),
        3.0,
    ],
)
def test_an_input_that_is_written_must_be_writeable_memory(lib, x):
    before = np.array(x)
    with pytest.raises(opwright.ShapeError, match="writeable") as caught:
        lib.increment(x)
    assert caught.value.code == "CL008" and np.array_equal(before, x)


# G10
def test_an_input_that_is_written_must_not_overlap_itself(lib):
    memory = np.zeros(4, np.float32)
    x = np.lib.stride_tricks.as_strided(memory, (3, 2), (4, 4), writeable=True)
    with pytest.raises(opwright.ShapeError, match="one place of memory"):
        lib.increment(x)
    assert not memory.any()


# G15
def test_outs_that_share_memory_are_refused_and_interleaved_ones_are_not(lib):
    x, y = base(4), np.ones(4, np.float32)
    memory = np.zeros(8, np.float32)
    for outs in ((memory[:4], memory[:4]), (memory[:4], memory[2:6])):
        with pytest.raises(opwright.ShapeError, match="same memory"):
            lib.sum_and_difference(x, y, out=outs)
        assert not memory.any()
    lib.sum_and_difference(x, y, out=(memory[::2], memory[1::2]))
    assert memory.tolist() == [2, 0, 3, 1, 4, 2, 5, 3]


# G15
def test_out_of_a_dynamic_output_is_a_list_of_arrays_or_refused(lib):
    parts = [base(3), base(2, 2)]
    outs = [np.zeros_like(part) for part in parts]
    try:
        got = lib.copies(parts, out=[outs])
    except opwright.ShapeError:
        assert not any(out.any() for out in outs)
    else:
        assert got[0] is outs
        assert all(np.array_equal(out, part) for out, part in zip(outs, parts, strict=True))

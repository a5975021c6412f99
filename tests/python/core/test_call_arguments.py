# SPDX-License-Identifier: Apache-2.0
"""How arguments of a call become inputs and attributes."""

import numpy as np
import pytest

import opwright

X = np.arange(1, 5, dtype=np.float32)
W = np.full(4, 10, np.float32)
BIAS = np.float32([3, 0, 0, 0])


def test_inputs_go_by_position_or_by_name(lib):
    want = X + W
    assert np.array_equal(lib.element_add(X, W), want)
    assert np.array_equal(lib.element_add(X, y=W), want)
    assert np.array_equal(lib.element_add(y=W, x=X), want)
    minus = lib.sum_and_difference(y=W, x=X)[1]
    assert np.array_equal(minus, X - W)


# G22
@pytest.mark.parametrize(
    "call",
    [
        lambda op: op(X, W),
        lambda op: op(X, W, None),
        lambda op: op(X, W, bias=None),
        lambda op: op(x=X, w=W),
        lambda op: op(w=W, bias=None, x=X),
        lambda op: op(X, W, None, eps=0.5),
        lambda op: op(X, W, eps=np.float64(0.5)),
    ],
)
def test_an_absent_optional_input_may_be_left_out_in_every_way(lib, call):
    assert np.array_equal(call(lib.affine), X * W + np.float32(0.5))


# G22
def test_a_given_optional_input_is_used(lib):
    want = X * W + 3 + np.float32(0.5)
    for got in (
        lib.affine(X, W, BIAS),
        lib.affine(X, W, bias=BIAS),
        lib.affine(bias=BIAS, w=W, x=X),
        lib.affine(X, W, 3.0),
        lib.affine(X, W, 3),
    ):
        assert np.array_equal(got, want)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda op: op(X), "input w is required"),
        (lambda op: op(w=W), "input x is required"),
        (lambda op: op(X, None), "input w is required"),
        (
            lambda op: op(X, W, None, 1.0),
            "4 positional arguments given, .* 3 inputs",
        ),
        (lambda op: op(X, W, x=X), "input x is given twice"),
        (lambda op: op(), "input x is required"),
    ],
)
# X05
def test_wrong_numbers_of_inputs_are_counted_as_the_user_does(lib, call, words):
    with pytest.raises(opwright.ShapeError, match=words) as caught:
        call(lib.affine)
    assert caught.value.code == "CL001" and str(caught.value).startswith("affine: ")


def test_a_dynamic_input_takes_a_list_or_tuple_of_any_length(lib):
    parts = [X, W[:1], X[:2]]
    for given in (parts, tuple(parts)):
        assert np.array_equal(lib.join(given), np.concatenate(parts))
        assert np.array_equal(lib.join(xs=given), np.concatenate(parts))
    assert lib.join([]).shape == (0,)
    assert np.array_equal(lib.join([X]), X)


def test_a_dynamic_output_is_a_list(lib):
    parts = [X, np.ones((2, 3), np.float32)]
    got = lib.copies(parts)
    assert isinstance(got, list)
    assert [g.tolist() for g in got] == [p.tolist() for p in parts]
    assert lib.copies([]) == []
    one = lib.copies([X])
    assert isinstance(one, list) and len(one) == 1


@pytest.mark.parametrize("given", [X, 1.0, None])
def test_a_dynamic_input_that_is_no_list_is_refused(lib, given):
    with pytest.raises(opwright.ShapeError, match="xs takes a list"):
        lib.join(given)


def test_a_list_for_one_tensor_is_refused(lib):
    with pytest.raises(opwright.CallError, match="twice"):
        lib.twice([1.0, 2.0])
    with pytest.raises(opwright.CallError, match="element_add"):
        lib.element_add(X, [X])


def test_several_outputs_are_a_tuple_in_metadef_order(lib):
    got = lib.sum_and_difference(X, W)
    assert isinstance(got, tuple)
    assert np.array_equal(got[0], X + W) and np.array_equal(got[1], X - W)


NAMES = [
    "int_value", "float_value", "bool_value", "text", "dtype", "ints", "int_count",
    "floats", "bools", "texts", "nested_count", "nested",
]  # fmt: skip
DEFAULTS = dict(zip(NAMES, [1, 2.5, 0, 4, 0, 3, 2, 0.5, 1, 3, 2, 6], strict=True))


def attributes(lib, **given):
    return dict(zip(NAMES, lib.attributes(X, **given).tolist(), strict=True))


def test_attributes_that_are_left_out_have_their_defaults(lib):
    assert attributes(lib) == DEFAULTS


# D09
@pytest.mark.parametrize(
    ("given", "want"),
    [
        ({"int_value": 7}, {"int_value": 7}),
        ({"int_value": np.int32(-7)}, {"int_value": -7}),
        ({"int_value": np.uint8(200)}, {"int_value": 200}),
        ({"int_value": np.array(9)}, {"int_value": 9}),
        ({"float_value": 0.25}, {"float_value": 0.25}),
        ({"float_value": 3}, {"float_value": 3}),
        ({"float_value": np.float16(0.5)}, {"float_value": 0.5}),
        ({"bool_value": True}, {"bool_value": 1}),
        ({"bool_value": np.True_}, {"bool_value": 1}),
        ({"text": ""}, {"text": 0}),
        ({"text": "é"}, {"text": 2}),
        ({"dtype": "float64"}, {"dtype": 1}),
        ({"dtype": np.float64}, {"dtype": 1}),
        ({"dtype": np.dtype("float64")}, {"dtype": 1}),
        ({"ints": [4, 5, 6]}, {"ints": 15, "int_count": 3}),
        ({"ints": (4, 5)}, {"ints": 9, "int_count": 2}),
        ({"ints": np.array([4, 5], np.int32)}, {"ints": 9, "int_count": 2}),
        ({"ints": np.arange(4)[::-1]}, {"ints": 6, "int_count": 4}),
        ({"ints": range(3)}, {"ints": 3, "int_count": 3}),
        ({"ints": []}, {"ints": 0, "int_count": 0}),
        ({"ints": np.array([], np.int64)}, {"ints": 0, "int_count": 0}),
        ({"floats": [1, 2.5]}, {"floats": 3.5}),
        ({"floats": np.float32([0.5, 0.25])}, {"floats": 0.75}),
        ({"floats": ()}, {"floats": 0}),
        ({"bools": [True, False, True]}, {"bools": 2}),
        ({"bools": np.array([True, True])}, {"bools": 2}),
        ({"bools": []}, {"bools": 0}),
        ({"texts": ["abc", ""]}, {"texts": 3}),
        ({"texts": ()}, {"texts": 0}),
        ({"nested": [[1, 2], [], [3]]}, {"nested_count": 3, "nested": 6}),
        ({"nested": np.array([[1, 2], [3, 4]])}, {"nested_count": 2, "nested": 10}),
        ({"nested": []}, {"nested_count": 0, "nested": 0}),
    ],
)
def test_attributes_take_python_and_numpy_values_of_their_type(lib, given, want):
    assert attributes(lib, **given) == {**DEFAULTS, **want}


@pytest.mark.parametrize(
    "given",
    [
        {"int_value": 1.5},
        {"int_value": True},
        {"int_value": "1"},
        {"int_value": 2**63},
        {"int_value": np.array([1, 2])},
        {"float_value": "1"},
        {"float_value": False},
        {"bool_value": 1},
        {"bool_value": "yes"},
        {"text": 3},
        {"text": b"x"},
        {"text": "a\0b"},
        {"dtype": 3.5},
        {"dtype": "float_32"},
        {"dtype": "fp32"},
        {"ints": 3},
        {"ints": [1, 2.5]},
        {"ints": np.array([1.0])},
        {"ints": "12"},
        {"floats": ["a"]},
        {"bools": [1]},
        {"texts": "ab"},
        {"texts": [1]},
        {"nested": [1]},
    ],
)
# D09
def test_attributes_of_another_type_are_refused_by_name(lib, given):
    with pytest.raises(opwright.DTypeError, match=next(iter(given))) as caught:
        lib.attributes(X, **given)
    assert caught.value.code == "CL006"
    assert isinstance(caught.value, TypeError)


def test_an_integer_that_is_too_wide_is_told_the_width(lib):
    with pytest.raises(
        opwright.DTypeError, match=r"int of 64 bits.*-9223372036854775809 was given"
    ):
        lib.attributes(X, int_value=-(2**63) - 1)


def test_a_misspelled_keyword_names_the_nearest(lib):
    with pytest.raises(opwright.DTypeError, match=r"did you mean eps\?"):
        lib.affine(X, W, epss=1.0)
    with pytest.raises(opwright.DTypeError, match=r"did you mean eps\?"):
        lib.affine(X, W, esp=1.0)
    with pytest.raises(opwright.DTypeError, match=r"did you mean bias\?"):
        lib.affine(X, W, biass=BIAS)


def test_a_required_attribute_that_is_missing_is_named(lib):
    with pytest.raises(opwright.DTypeError, match=r"needs_axis: .*axis") as caught:
        lib.needs_axis(X)
    assert caught.value.code == "CL006"
    assert lib.needs_axis(X, axis=0).tolist() == [2, 4, 6, 8]


def test_what_is_no_tensor_is_named_with_its_input(lib):
    for call in (
        lambda: lib.element_add(X, [1, 2]),
        lambda: lib.element_add([1, 2], X),
        lambda: lib.element_add(X, y=[1, 2]),
        lambda: lib.join([[X]]),
        lambda: lib.join([X, None]),
    ):
        with pytest.raises(opwright.DTypeError, match=r"input (y|x|xs) is given") as caught:
            call()
        assert caught.value.code == "CL013"
    with pytest.raises(opwright.DTypeError, match="y is given complex"):
        lib.element_add(X, 1j)


def test_objects_that_are_no_tensors_are_refused_by_type(lib):
    for value in (object(), "text", {}, b"bytes"):
        with pytest.raises(opwright.DTypeError, match=f"twice: .*{type(value).__name__}"):
            lib.twice(value)


# G07
def test_a_rule_that_does_not_fit_is_told_the_attributes_too(lib):
    with pytest.raises(opwright.GradientError, match=r"missing .*'epss'; write") as caught:
        lib.affine.bprop(lambda x, w, bias, out, dout, epss: (dout, dout, dout))
    assert "write def bprop(x, w, bias, out, dout, eps), of the attributes" in str(caught.value)

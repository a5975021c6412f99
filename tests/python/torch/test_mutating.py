# SPDX-License-Identifier: Apache-2.0
"""Operators that write an input."""

import pytest
import torch
from calls import assert_same, draw

import opwright


def test_the_input_is_written_and_its_version_counted(libraries):  # G10
    sums, x = draw(4), draw(4)
    expected = sums + x
    version = sums._version
    norm = libraries("effects").accumulate(sums, x)
    assert_same(sums, expected)
    assert_same(norm, expected.max())
    assert sums._version == version + 1
    assert x._version == 0


ROUTES = {
    "lib.op": lambda op: op,
    "by name": lambda op: lambda sums, x: op(x=x, sums=sums),
    "torch.ops": lambda op: op._calls[torch.Tensor]._overload,
    "compiled": lambda op: torch.compile(lambda *args: op(*args), backend="aot_eager"),
    "fullgraph": lambda op: torch.compile(
        lambda *args: op(*args), fullgraph=True, backend="aot_eager"
    ),
}


@pytest.mark.parametrize("route", ROUTES)
@pytest.mark.parametrize("number", [2.0, 1, True])
def test_a_number_cannot_be_written(libraries, route, number):  # G10
    op = ROUTES[route](libraries("effects").accumulate)
    with pytest.raises((TypeError, ValueError, RuntimeError)) as caught:
        op(number, draw(3))
    if route in ("lib.op", "by name", "compiled"):
        assert type(caught.value) is opwright.ShapeError and caught.value.code == "CL008"
    if route == "torch.ops":
        assert "'sums'" in str(caught.value) and "Tensor" in str(caught.value)
    else:
        words = "accumulate: input sums is written by the operator: it must be a tensor, a number"
        assert words in str(caught.value)


@pytest.mark.parametrize(
    "view",
    [lambda t: t.t(), lambda t: t[:, ::2], lambda t: t[1:3, 1:3], lambda t: t.permute(1, 0)[1:]],
)
def test_views_are_written_in_place(libraries, view):
    base = draw(4, 6)
    expected = base.clone()
    x = draw(*view(base).shape)
    view(expected).add_(x)
    libraries("effects").accumulate(view(base), x)
    assert_same(base, expected)


def test_a_view_that_is_written_counts_for_its_base(libraries):
    base = draw(4, 6)
    libraries("effects").accumulate(base[0], draw(6))
    assert base._version == 1


def test_a_gradient_is_refused_with_words(libraries):  # G10
    accumulate = libraries("effects").accumulate
    for sums, x in ((draw(3, grad=True) * 1, draw(3)), (draw(3), draw(3, grad=True))):
        with pytest.raises(
            opwright.GradientError, match=r"accumulate writes its input sums.*GR008"
        ):
            accumulate(sums, x)
        with torch.no_grad():
            accumulate(sums, x)


def test_a_tensor_saved_for_another_gradient_is_missed(libraries):  # G10
    w = draw(3, grad=True)
    saved = draw(3)
    y = w * saved
    libraries("effects").accumulate(saved, draw(3))
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        y.sum().backward()


def test_inputs_that_must_be_converted_are_refused(libraries):
    with pytest.raises(RuntimeError, match="sums"):
        libraries("effects").accumulate(torch.ones(3), torch.ones(3, dtype=torch.float64))


def test_opcheck_and_compile(libraries):
    libraries("effects")
    op = torch.ops.opwright.accumulate.default
    tests = ("test_schema", "test_faketensor", "test_aot_dispatch_dynamic")
    results = torch.library.opcheck(op, (draw(3), draw(3)), test_utils=tests)
    assert set(results.values()) == {"SUCCESS"}
    sums, x = draw(3), draw(3)
    expected = sums + x
    norm = torch.compile(libraries("effects").accumulate, fullgraph=True)(sums, x)
    assert_same(sums, expected)
    assert_same(norm, expected.max())

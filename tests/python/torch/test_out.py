# SPDX-License-Identifier: Apache-2.0
"""out=: what is refused is refused before anything is written."""

import pytest
import torch
from calls import assert_same, draw

import opwright

DOUBLE = torch.float64
REFUSED = {
    "shape": (
        lambda: torch.empty(4, dtype=DOUBLE),
        "CL008",
        r"output added has shape \[4\], \[3\]",
    ),
    "rank": (lambda: torch.empty(3, 1, dtype=DOUBLE), "CL008", "output added has shape"),
    "dtype": (lambda: torch.empty(3), "CL015", "output added has dtype float32, float64 is due"),
    "gradient": (lambda: draw(3, grad=True), "CL008", "where a gradient is due"),
    "repeats": (lambda: torch.empty(1, dtype=DOUBLE).expand(3), "CL008", "several elements"),
    "sparse": (lambda: torch.eye(3, dtype=DOUBLE).to_sparse(), "CL008", "sparse"),
    "meta": (lambda: torch.empty(3, dtype=DOUBLE, device="meta"), "CL007", "device meta"),
    "kind": (lambda: [1.0, 2.0, 3.0], "CL008", "list was given"),
}


@pytest.mark.parametrize("how", ["positions", "names", "compiled"])
@pytest.mark.parametrize("wrong", REFUSED)
def test_what_is_refused_has_written_nothing(libraries, wrong, how):  # G15
    make, code, words = REFUSED[wrong]
    exchange = libraries("effects").exchange
    sums, x, old = draw(3), draw(3), draw(3)
    before = sums.clone(), old.clone()
    out = (old, make())
    with pytest.raises((opwright.Error, RuntimeError, TypeError), match=words) as caught:
        if how == "positions":
            exchange(sums, x, out=out)
        elif how == "names":
            exchange(x=x, sums=sums, out=out)
        else:
            torch.compile(lambda sums, x, out: exchange(sums, x, out=out), backend="aot_eager")(
                sums, x, out
            )
    assert getattr(caught.value, "code", code) == code
    assert_same((sums, old), before)
    torch._dynamo.reset()


def test_a_compiled_call_writes_the_input_and_the_outputs(libraries):
    exchange = libraries("effects").exchange
    compiled = torch.compile(
        lambda sums, x, out: exchange(sums, x, out=out), fullgraph=True, backend="aot_eager"
    )
    sums, x, out = draw(3), draw(3), (draw(3), draw(3))
    before = sums.clone()
    compiled(sums, x, out)
    assert_same((sums, *out), (before + x, before, x))
    torch._dynamo.reset()


def test_an_inference_tensor_is_written_in_inference_mode_alone(libraries):
    exchange = libraries("effects").exchange
    sums, x = draw(3), draw(3)
    with torch.inference_mode():
        out = torch.empty(3, dtype=DOUBLE), torch.empty(3, dtype=DOUBLE)
    with pytest.raises(opwright.ShapeError, match=r"output old is an inference tensor.*CL008"):
        exchange(sums, x, out=out)
    before = sums.clone()
    with torch.inference_mode():
        exchange(sums, x, out=out)
        assert_same(out, (before, x))
    assert_same(sums, before + x)


OVERLAPS = {
    "one tensor": lambda base: (base[:3],) * 2,
    "a part": lambda base: (base[:3], base[1:4]),
    "a view": lambda base: (base[:3], base[:3].view(3)),
    "one start": lambda base: (base[:3], base[:6:2]),
}


@pytest.mark.parametrize("overlap", OVERLAPS)
def test_outputs_in_one_memory_are_refused_as_on_arrays(libraries, overlap):
    pair, exchange = libraries("inputs").pair, libraries("effects").exchange
    x, y = draw(3), draw(3)
    both = OVERLAPS[overlap](draw(6))

    def words_of(call):
        with pytest.raises(opwright.ShapeError) as caught:
            call()
        assert caught.value.code == "CL008"
        return str(caught.value)

    arrays = [t.numpy() for t in both]
    assert words_of(lambda: pair(x, y, out=both)) == words_of(
        lambda: pair(x.numpy(), y.numpy(), out=tuple(arrays))
    )
    sums, out = both
    before = sums.clone()
    free = torch.empty(3, dtype=DOUBLE)
    for outs in ((free, out), (out, free)):
        assert words_of(lambda outs=outs: exchange(sums, x, out=outs)) == words_of(
            lambda outs=outs: exchange(sums.numpy(), x.numpy(), out=tuple(t.numpy() for t in outs))
        )
        assert_same(sums, before)


def test_outputs_that_interleave_or_are_empty_are_taken(libraries):
    pair = libraries("inputs").pair
    x, y = draw(3), draw(3)
    base = torch.empty(6, dtype=DOUBLE)
    pair(x, y, out=(base[::2], base[1::2]))
    assert_same((base[::2], base[1::2]), (x * y, x + 3 * y))
    none = torch.empty(0, dtype=DOUBLE)
    pair(none, none, out=(none, none))


def test_a_parameter_is_written_where_no_gradient_is_recorded(libraries):
    square = libraries("elementwise").square
    x, weight = draw(3), torch.nn.Parameter(draw(3))
    with pytest.raises(opwright.CallError, match=r"call under torch.no_grad\(\)"):
        square(x, out=weight)
    compiled = torch.compile(lambda x, out: square(x, out=out), backend="aot_eager")
    for call in (lambda x, out: square(x, out=out), compiled):
        x = draw(3)
        with torch.no_grad():
            call(x, weight)
        assert_same(weight.detach(), x * x)
    assert weight.requires_grad and weight.is_leaf

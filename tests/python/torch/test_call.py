# SPDX-License-Identifier: Apache-2.0
"""Forward calls on tensors: values, attributes, numbers, out=, and what is refused."""

import numpy as np
import pytest
import torch
from calls import CASES, assert_same, draw, scattered, tensors
from operator_libraries import write_operator

import opwright


@pytest.mark.parametrize("case", CASES, ids=str)
def test_values_are_those_of_the_native_operator(libraries, case):
    inputs = case.inputs()
    made = libraries(case.group)[case.operator](*inputs, **case.attrs)
    assert_same(made, case.reference(*inputs, **case.attrs))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_torch_ops_has_the_same_operator(libraries, case):
    libraries(case.group)
    inputs = case.inputs()
    made = getattr(torch.ops.opwright, case.operator)(*inputs, **case.attrs)
    assert_same(made, case.reference(*inputs, **case.attrs))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_inputs_of_any_strides_give_the_same_values(libraries, case):  # C04 C12 J02
    inputs = case.inputs()
    odd = tuple(scattered(value) for value in inputs)
    assert any(not t.is_contiguous() for t in tensors(odd)) or all(
        t.numel() < 2 for t in tensors(odd)
    )
    made = libraries(case.group)[case.operator](*odd, **case.attrs)
    assert_same(made, case.reference(*inputs, **case.attrs))


def test_views_of_every_kind_are_read_by_their_strides(libraries):  # C04 C05 C07 C10
    square = libraries("elementwise").square
    base = draw(6, 8)
    for view in (
        base.chunk(2, -1)[0],
        base.permute(1, 0),
        base[:, ::2],
        base[1:, 1:],
        torch.tensor([2.0], dtype=torch.float64).expand(4),
        base.as_strided((1, 6), (1, 1)),
        base.as_strided((3, 1), (1, 5)),
        base.as_strided((0, 4), (0, 0)),
        base.flatten()[1:],
        base.as_strided((2, 3, 3), (8, 1, 1)),
    ):
        made = square(view)
        assert_same(made, view * view)
        assert made.is_contiguous()


def test_memory_that_is_not_aligned_is_read(libraries):  # C10
    raw = np.frombuffer(bytearray(4 * 9 + 1), np.uint8)[1:].view(np.float32)
    raw[:] = np.arange(9)
    x = torch.from_numpy(raw)
    assert x.data_ptr() % 4 != 0
    assert_same(libraries("elementwise").square(x), torch.arange(9.0) ** 2)


@pytest.mark.parametrize(
    "dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64], ids=str
)
def test_each_float_column_gives_its_own_dtype(libraries, dtype):
    x = draw(4, 5, dtype=dtype)
    made = libraries("elementwise").square(x)
    assert made.dtype == dtype
    assert_same(made, x * x)


def test_mixed_floats_are_promoted_to_a_listed_column(libraries):  # D01
    half, single = draw(3, dtype=torch.float16), draw(3, dtype=torch.float32)
    made = libraries("element_add").element_add(half, single)
    assert made.dtype == torch.float32
    assert_same(made, half + single)


@pytest.mark.parametrize("shape", [(0,), (0, 4), (4, 0)])
def test_no_elements_in_no_elements_out(libraries, shape):  # E01
    x = torch.empty(shape, dtype=torch.float64, requires_grad=True)
    y = libraries("elementwise").square(x)
    assert y.shape == shape
    y.sum().backward()
    assert x.grad.shape == shape


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ((torch.ones(2, dtype=torch.int32),) * 2, "CL002"),  # D04 D05
        ((torch.ones(2, dtype=torch.float64),) * 2, "CL002"),
        ((torch.ones(2, dtype=torch.complex64),) * 2, "CL002"),
        ((torch.ones(2), torch.ones(3)), "CL005"),
        ((torch.ones(2),) * 3, "CL001"),
        ((torch.ones(2), np.ones(2, np.float32)), "CL013"),
        ((np.ones(2, np.float32), torch.ones(2)), "CL013"),
        ((torch.ones(2), "two"), ""),
        ((torch.ones(2),), ""),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_wrong_arguments_are_refused_by_name(libraries, given, code):
    with pytest.raises((RuntimeError, TypeError), match="element_add") as caught:
        libraries("element_add").element_add(*given)
    assert code in str(caught.value)


def test_rank_and_size_of_the_metadef_are_checked(libraries):  # S09 S10
    with pytest.raises(RuntimeError, match=r"rank 1 expected, got 2"):
        libraries("shapes").outer_flat(draw(2, 3), draw(3))
    with pytest.raises(RuntimeError, match=r"w.*\[5, 2\].*k = 4 \(from x\), got 5"):
        libraries("inputs").linear(draw(3, 4), draw(5, 2))


@pytest.mark.parametrize(
    ("how", "words"), [("status", "status words 42"), ("throw", "thrown words"), ("throw int", "")]
)
def test_a_kernel_that_fails_is_an_error_with_the_operators_name(libraries, how, words):  # X01
    with pytest.raises(RuntimeError, match=f"fail: the kernel failed: .*{words}"):
        libraries("effects").fail(torch.ones(2), how=how)
    assert_same(libraries("effects").fail(torch.ones(2), how="not"), torch.ones(2))


def test_attributes_of_every_type_arrive(libraries):
    tell = libraries("attributes").tell
    x = torch.ones(1, dtype=torch.float64)
    required = {"count": -3, "label": "four", "rows": [[1, 2], [], [5]]}
    plain = [-3, 4, 30005, 0.5, 1, 7, 3, 0.75, 21, 5, 4, 303]
    assert tell(x, **required).tolist() == plain
    given = tell(
        x,
        **required,
        ratio=0.125,
        flag=False,
        kind=torch.bfloat16,
        steps=(1, 2, 3),
        weights=np.array([1.0, 2.0]),
        names=["a", "bcd", ""],
        masks=[False, True],
        mode="",
        table=[[7]],
    )
    assert given.tolist() == [-3, 4, 30005, 0.125, 0, 8, 6, 3, 130, 1, 0, 7]
    assert torch.ops.opwright.tell(x, **required).tolist() == plain


def test_a_missing_required_attribute_and_a_wrong_one_are_refused(libraries):
    tell = libraries("attributes").tell
    x = torch.ones(1, dtype=torch.float64)
    with pytest.raises((RuntimeError, TypeError), match="count"):
        tell(x, label="four", rows=[])
    with pytest.raises((RuntimeError, TypeError), match="ratio"):
        tell(x, count=1, label="four", rows=[], ratio="much")
    with pytest.raises((RuntimeError, TypeError), match="nothing"):
        tell(x, count=1, label="four", rows=[], nothing=1)


@pytest.mark.parametrize(
    "given",
    [
        {"count": True},
        {"count": np.True_},
        {"count": 1.5},
        {"count": "1"},
        {"count": np.array([1, 2])},
        {"ratio": False},
        {"ratio": "much"},
        {"flag": 1},
        {"flag": 0.0},
        {"flag": np.int64(1)},
        {"label": 3},
        {"label": b"x"},
        {"steps": 3},
        {"steps": "12"},
        {"steps": [1, 2.5]},
        {"steps": [1, True]},
        {"steps": np.array([1.0])},
        {"weights": ["a"]},
        {"weights": [False]},
        {"masks": [1]},
        {"masks": np.array([0, 1])},
        {"names": "ab"},
        {"names": [1]},
        {"rows": [1]},
        {"rows": [[1], [True]]},
        {"rows": [[1.5]]},
    ],
    ids=str,
)
def test_attributes_of_another_type_are_refused_in_our_words(libraries, given):  # D09
    (name,) = given
    required = {"count": 1, "label": "four", "rows": [[1]]}
    words = f"tell: attribute {name} is .* in the metadef, .* was given"
    with pytest.raises(opwright.DTypeError, match=words) as caught:
        libraries("attributes").tell(torch.ones(1, dtype=torch.float64), **{**required, **given})
    assert caught.value.code == "CL006"


@pytest.mark.parametrize("grad", [True, False])
@pytest.mark.parametrize(
    "given",
    [
        lambda t: {"ratio": t},
        lambda t: {"ratio": torch.nn.Parameter(t)},
        lambda t: {"count": t.long()},
        lambda t: {"flag": t.bool()},
        lambda t: {"weights": [1.0, t]},
        lambda t: {"steps": t.long().reshape(1)},
    ],
)
def test_a_tensor_for_an_attribute_is_refused_not_detached(libraries, given, grad):  # G01
    given = given(torch.tensor(2.0, requires_grad=grad))
    (name,) = given
    required = {"count": 1, "label": "four", "rows": [[1]]}
    words = f"tell: attribute {name} is given a tensor.*make {name} an input of shape \\[\\]"
    with pytest.raises(opwright.DTypeError, match=words) as caught:
        libraries("attributes").tell(torch.ones(1, dtype=torch.float64), **{**required, **given})
    assert caught.value.code == "CL006"


def test_a_tensor_for_an_attribute_is_refused_while_tracing(libraries):
    power = libraries("elementwise").power
    call = torch.compile(lambda x, scale: power(x, exponent=3, scale=scale))
    with pytest.raises((TypeError, RuntimeError), match="make scale an input"):
        call(draw(3), torch.tensor(2.0, requires_grad=True))


def test_attributes_take_numbers_of_numpy_and_integers_for_floats(libraries):
    tell = libraries("attributes").tell
    x = torch.ones(1, dtype=torch.float64)
    made = tell(
        x,
        count=np.int32(2),
        label="",
        rows=np.array([[1, 2]]),
        ratio=np.float32(0.5),
        flag=np.False_,
        steps=[np.int64(4), 5],
        weights=[1, np.float32(0.5)],
        masks=np.array([True, False]),
    ).tolist()
    assert made[:5] == [2, 0, 3, 0.5, 0] and made[6:8] == [9, 1.5] and made[9] == 2
    assert tell(x, count=1, label="", rows=[], ratio=2)[3] == 2


def test_a_misspelt_attribute_names_the_nearest(libraries):
    x = torch.ones(1, dtype=torch.float64)
    with pytest.raises(opwright.DTypeError, match=r"named ration; .*did you mean ratio\?"):
        libraries("attributes").tell(x, count=1, label="", rows=[], ration=1.0)


def test_python_numbers_take_the_dtype_of_the_tensors(libraries):
    fused = libraries("fused_broadcast").fused_broadcast
    for dtype in (torch.float32, torch.float64):
        x = draw(3, dtype=dtype)
        made = fused(x, 2, 0.5)
        assert made.dtype == dtype
        assert_same(made, (x + 2) * 0.5)
    x = draw(3, grad=True)
    fused(x, 2, 0.5).sum().backward()
    assert_same(x.grad, torch.full((3,), 0.5, dtype=torch.float64))
    with pytest.raises(opwright.DTypeError, match="CL002"):
        libraries("inputs").take_rows(draw(2, 2, dtype=torch.float32), 1.5)


def test_inputs_by_name_reach_the_same_operator(libraries):  # G22
    linear = libraries("inputs").linear
    x, w, bias = draw(2, 3), draw(3, 4), draw(4)
    for made in (
        linear(x, w, bias),
        linear(x, w, bias=bias),
        linear(x=x, w=w, bias=bias),
        linear(x, bias=bias, w=w),
    ):
        assert_same(made, x @ w + bias)
    assert_same(linear(x, w=w), x @ w)


def test_out_is_written_where_no_gradient_is_due(libraries):  # G15
    square = libraries("elementwise").square
    x, out = draw(3), torch.empty(3, dtype=torch.float64)
    assert square(x, out=out) is out
    assert_same(out, x * x)
    strided = torch.zeros(6, dtype=torch.float64)[::2]
    square(x, out=strided)
    assert_same(strided, x * x)
    with pytest.raises(opwright.CallError, match="gradient"):
        square(draw(3, grad=True), out=out)
    with torch.no_grad():
        square(draw(3, grad=True), out=out)
    with pytest.raises(opwright.CallError, match=r"\[4\].*\[3\]"):
        square(x, out=torch.empty(4, dtype=torch.float64))
    with pytest.raises(opwright.DTypeError, match="dtype float32, float64 is due") as caught:
        square(x, out=torch.empty(3))
    assert caught.value.code == "CL015"
    p, q = torch.empty(3, dtype=torch.float64), torch.empty(3, dtype=torch.float64)
    libraries("inputs").pair(x, x, out=(p, q))
    assert_same((p, q), (x * x, 4 * x))
    with pytest.raises(opwright.CallError, match="1 tensor, the operator has 2"):
        libraries("inputs").pair(x, x, out=(p,))


def test_out_that_is_the_input_gets_the_right_values(libraries):  # G11
    x = draw(3)
    expected = x * x
    libraries("elementwise").square(x, out=x)
    assert_same(x, expected)


def test_an_output_never_lies_in_an_inputs_memory(libraries):  # G11
    x = draw(3)
    made = libraries("effects").fail(x.float(), how="not")
    made.zero_()
    assert (x > 0).all()


def test_subclasses_and_parameters_are_tensors(libraries):
    class Marked(torch.Tensor):
        pass

    x = draw(3)
    assert_same(libraries("elementwise").square(torch.nn.Parameter(x)).detach(), x * x)
    assert_same(
        libraries("elementwise").square(x.as_subclass(Marked)).as_subclass(torch.Tensor), x * x
    )


def test_inputs_by_name_are_numbers_and_tensors_alike(libraries):  # G22
    op = libraries("fused_broadcast").fused_broadcast
    x, b = draw(2, 3), draw(3)
    assert torch.equal(op(x, b, s=2.0), op(x, b, 2.0))
    assert torch.equal(op(s=draw(3) * 0 + 2, b=b, x=x), op(x, b, 2.0))


@pytest.mark.parametrize(
    ("kwargs", "code"),
    [
        ({"s": np.ones(3)}, "CL013"),
        ({"scale": 2.0}, "CL006"),
        ({"s": 2.0, "b": 1.0}, "CL001"),
    ],
)
def test_what_is_wrong_with_a_keyword_is_said(libraries, kwargs, code):
    op = libraries("fused_broadcast").fused_broadcast
    with pytest.raises(opwright.Error) as raised:
        op(draw(2, 3), draw(3), **kwargs)
    assert raised.value.code == code


def test_tensors_without_data_beside_such_with_data_are_refused(libraries):
    op = libraries("fused_broadcast").fused_broadcast
    x = torch.ones(2, 3)
    with pytest.raises(opwright.CallError, match=r"on cpu and meta.*CL007"):
        op(x, torch.ones(3, device="meta"), x)
    assert op(*[t.to("meta") for t in (x, x, x)]).device.type == "meta"
    with torch.device("meta"):
        number = op(x, 1.0, 2.0)
    assert torch.equal(number, torch.full((2, 3), 4.0))


@pytest.mark.parametrize("number", [-1, 256])
def test_a_number_out_of_range_is_refused_as_on_arrays(libraries, number):
    op = libraries("inputs").choose
    with pytest.raises(opwright.DTypeError, match=f"{number} of input level is out of range"):
        op(torch.ones(2), torch.tensor([True, False]), number, 1)


def test_a_default_that_the_schema_cannot_say_is_taken(tmp_path):
    metadef = {
        "op_name": "tiny_defaults",
        "input_desc": [{"name": "x", "dtype": ["float64"], "shape": [-2]}],
        "output_desc": [{"name": "y", "dtype": ["float64"], "shape": [-2]}],
        "attr": [
            {"name": "low", "type": "float", "default_value": 1e-320},
            {"name": "lows", "type": "list_float", "default_value": [1.0, -1e-320]},
        ],
    }
    source = """#include <opwright/kernel.h>
    void Tiny(opwright::View<const double> x, opwright::View<double> y, double low,
              opwright::List<double> lows) {
      for (int64_t i = 0; i < y.Size(); ++i) y.Data()[i] = (low == 1e-320) + 2 * (lows[1] < 0);
    }
    OPWRIGHT_FUNCTION(tiny_defaults, Tiny)
    """
    op = opwright.load(write_operator(tmp_path / "tiny", metadef, source))["tiny_defaults"]
    x = torch.zeros(1, dtype=torch.float64)
    assert op(x) == 3
    assert op(x, low=0.5) == 2
    assert op(x, lows=[1.0, 2.0]) == 1
    assert torch.compile(lambda v: op(v) + 1)(x) == 4

# SPDX-License-Identifier: Apache-2.0
"""What is said of a wrong call: our exceptions with ids, in the words that numpy's calls have."""

import pathlib
import subprocess

import numpy as np
import pytest
import torch
from sources import GROUPS

import opwright

FLOATS = np.arange(3, dtype=np.float32)
DOUBLES = np.ones(1)
TELL = {"count": 1, "label": "four", "rows": [[1]]}

# Group, operator, code, call(op, to), where to() makes a numpy array a tensor of the framework.
MISTAKES = [
    ("element_add", "CL001", lambda op, to: op(to(FLOATS), None)),
    ("element_add", "CL001", lambda op, to: op(to(FLOATS))),
    ("element_add", "CL001", lambda op, to: op(y=to(FLOATS))),
    ("element_add", "CL001", lambda op, to: op(to(FLOATS), to(FLOATS), to(FLOATS))),
    ("element_add", "CL013", lambda op, to: op(to(FLOATS), "a")),
    ("element_add", "CL013", lambda op, to: op(to(FLOATS), 1j)),
    ("element_add", "CL013", lambda op, to: op(to(FLOATS), y={})),
    ("element_add", "CL013", lambda op, to: op(to(FLOATS), [to(FLOATS)])),
    ("element_add", "CL013", lambda op, to: op([to(FLOATS)], to(FLOATS))),
    ("element_add", "CL013", lambda op, to: op(to(FLOATS), torch.float32)),
    ("element_add", "CL013", lambda op, to: op(torch.float32, to(FLOATS))),
    ("element_add", "CL002", lambda op, to: op(to(FLOATS), 2**70)),
    ("element_add", "CL002", lambda op, to: op(to(FLOATS.astype("i4")), to(FLOATS))),
    ("element_add", "CL005", lambda op, to: op(to(FLOATS), to(FLOATS[:2]))),
    ("element_add", "CL001", lambda op, to: op(to(FLOATS), to(FLOATS), out=[])),
    ("element_add", "CL001", lambda op, to: op(to(FLOATS), to(FLOATS), out=(to(FLOATS),) * 2)),
    ("element_add", "CL008", lambda op, to: op(to(FLOATS), to(FLOATS), out=to(FLOATS[:2].copy()))),
    ("element_add", "CL015", lambda op, to: op(to(FLOATS), to(FLOATS), out=to(np.ones(3)))),
    ("inputs.linear", "CL004", lambda op, to: op(to(FLOATS), to(FLOATS))),
    ("inputs.sum_squares", "CL001", lambda op, to: op(to(FLOATS))),
    ("inputs.sum_squares", "CL001", lambda op, to: op(xs=to(FLOATS))),
    ("inputs.sum_squares", "CL013", lambda op, to: op([to(FLOATS), "a"])),
    ("inputs.sum_squares", "CL013", lambda op, to: op([to(FLOATS), None])),
    ("inputs.sum_squares", "CL002", lambda op, to: op([to(FLOATS), 2**70])),
    ("inputs.add_parts", "CL001", lambda op, to: op(None, to(FLOATS), None)),
    ("inputs.add_parts", "CL001", lambda op, to: op(None, None, [to(FLOATS)])),
    ("inputs.add_parts", "CL008", lambda op, to: op(None, to(FLOATS), [to(FLOATS)], out=[1])),
    (
        "inputs.add_parts",
        "CL008",
        lambda op, to: op(None, to(FLOATS), [to(FLOATS)], out=[[to(FLOATS)]]),
    ),
    (
        "inputs.add_parts",
        "CL008",
        lambda op, to: op(None, to(FLOATS), [to(FLOATS)] * 2, out=[1, 2]),
    ),
    ("inputs.pair", "CL001", lambda op, to: op(to(FLOATS), to(FLOATS), out=to(FLOATS))),
    ("attributes.tell", "CL006", lambda op, to: op(to(DOUBLES), label="", rows=[])),
    ("attributes.tell", "CL006", lambda op, to: op(to(DOUBLES), **{**TELL, "count": 2**70})),
    ("attributes.tell", "CL006", lambda op, to: op(to(DOUBLES), **{**TELL, "count": None})),
    ("attributes.tell", "CL006", lambda op, to: op(to(DOUBLES), **{**TELL, "label": "a\0b"})),
    ("attributes.tell", "CL006", lambda op, to: op(to(DOUBLES), **TELL, ratio=2**2000)),
    ("attributes.tell", "CL006", lambda op, to: op(to(DOUBLES), **TELL, steps=[1, 2**63])),
    ("attributes.tell", "CL006", lambda op, to: op(to(DOUBLES), **TELL, steps=None)),
    ("attributes.tell", "CL006", lambda op, to: op(to(DOUBLES), **TELL, no_such=1)),
    ("effects.fail", "CL011", lambda op, to: op(to(FLOATS), how="status")),
    ("effects.fail", "CL012", lambda op, to: op(to(FLOATS), how="throw")),
]


def find(libraries, path):
    group, _, name = path.partition(".")
    return libraries(group)[name or group]


def refusal(call, op, to):
    with pytest.raises(opwright.Error) as caught:
        call(op, to)
    return caught.value


@pytest.mark.parametrize(("path", "code", "call"), MISTAKES)
def test_a_wrong_call_is_refused_as_on_numpy(libraries, path, code, call):  # X05 D09
    op = find(libraries, path)
    on_numpy = refusal(call, op, lambda array: array)
    on_torch = refusal(call, op, torch.from_numpy)
    assert on_numpy.code == on_torch.code == code
    assert str(on_torch) == str(on_numpy)
    assert type(on_torch) is type(on_numpy)


def test_errors_of_the_native_route_are_ours_and_pytorchs(libraries):
    op = libraries("element_add").element_add
    x = torch.ones(3)
    with pytest.raises(TypeError, match=r"dtype int64 of input x.*\[CL002\]$") as caught:
        op(x.long(), x.long())
    assert type(caught.value) is opwright.DTypeError
    assert isinstance(caught.value, RuntimeError)  # which is what users of PyTorch catch
    with pytest.raises(ValueError, match=r"\[CL005\]$"):
        op(x, torch.ones(4))
    with pytest.raises(RuntimeError, match=r"\[CL002\]$") as caught:
        torch.ops.opwright.element_add(x.long(), x.long())
    assert not isinstance(caught.value, opwright.Error)


def test_a_backward_kernel_that_fails_is_ours(libraries):
    x = torch.ones(3, requires_grad=True)
    y = libraries("effects").fail(x, how="not")
    with pytest.raises(
        opwright.CallError, match="fail_grad: the kernel failed: backward"
    ) as caught:
        y.sum().backward()
    assert caught.value.code == "CL011"


def test_another_error_on_the_way_stays_what_it_is(libraries):
    square = libraries("elementwise").square
    x = torch.ones(3, dtype=torch.float64)
    with pytest.raises(RuntimeError) as caught:
        torch.func.vmap(lambda v: square(v) if v.sum() > 0 else v)(x.expand(2, 3))
    assert not isinstance(caught.value, opwright.Error)


@pytest.mark.parametrize("out", [1, [1], np.ones(3, np.float32), "out"])
def test_an_out_that_is_no_tensor_is_refused_by_its_type(libraries, out):  # G15
    item = out[0] if isinstance(out, list) else out
    words = f"out= for z must be a torch tensor, {type(item).__name__} was given"
    with pytest.raises(opwright.ShapeError, match=words) as caught:
        libraries("element_add").element_add(torch.ones(3), torch.ones(3), out=out)
    assert caught.value.code == "CL008"


def test_sparse_tensors_are_refused_with_the_cure(libraries):
    x = torch.ones(3)
    with pytest.raises(opwright.CallError, match=r"sparse_coo.*to_dense\(\)") as caught:
        libraries("element_add").element_add(x.to_sparse(), x)
    assert caught.value.code == "CL007"


def test_attributes_are_never_taken_for_tensors(libraries):  # G22
    tell = libraries("attributes").tell
    plain = {"count": 3, "label": "four", "rows": [[1]]}
    odd = {"count": np.int64(3), "label": "four", "rows": np.array([[1]])}
    for x in (torch.ones(1, dtype=torch.float64), np.ones(1)):
        expected = tell(x, **plain).tolist()
        assert tell(x=x, **odd).tolist() == expected
        named = tell(x=x, **odd, ratio=np.float32(0.5))
        assert named.tolist() == tell(x, **plain, ratio=0.5).tolist()
    for dtype in (torch.float16, np.float16, np.dtype("float16"), "float16"):
        for x in (torch.ones(1, dtype=torch.float64), np.ones(1)):
            by_name = tell(x=x, **plain, kind=dtype).tolist()
            assert by_name == tell(x, **plain, kind="float16").tolist()


def test_tensors_of_two_frameworks_by_name_are_refused(libraries):
    op = libraries("element_add").element_add
    with pytest.raises(opwright.DTypeError, match="convert them to one framework"):
        op(x=torch.ones(3), y=FLOATS)
    with pytest.raises(opwright.DTypeError, match="convert them to one framework"):
        op(x=FLOATS, y=FLOATS, out=torch.ones(3))


def test_numbers_in_a_list_take_the_dtype_of_the_tensors(libraries):
    op = libraries("inputs").sum_squares
    x = torch.tensor(2.0, dtype=torch.float64)
    made = op([x, 3, 0.5])
    assert made.dtype == torch.float64 and made.item() == 4 + 2 * 9 + 3 * 0.25


def test_the_tensors_of_a_list_have_one_shape_where_the_output_has_it(libraries):
    op = libraries("inputs").sum_squares
    square, row = torch.ones(3, 3), torch.ones(3)
    with torch._subclasses.FakeTensorMode() as fake:
        fakes = [fake.from_tensor(square), fake.from_tensor(row)]
    for given in ([square, row], [square.numpy(), row.numpy()], fakes):
        with pytest.raises(opwright.ShapeError, match=r"inputs xs \[3, 3\] and xs \[3\]") as e:
            op(given)
        assert e.value.code == "CL005"


def test_without_any_tensor_the_input_is_named(libraries):
    op = libraries("element_add").element_add
    for call in (
        lambda: op(torch.float32, torch.float32),
        lambda: op(x=torch.float32, y=1.0),
        lambda: op(torch.strided),
        lambda: op(np.float32),
    ):
        with pytest.raises(opwright.DTypeError, match=r"input x is given .* a number is due") as e:
            call()
        assert e.value.code == "CL013"


def test_an_operator_without_metadef_is_refused_the_same_on_tensors(tmp_path):  # X05
    aoc = pathlib.Path(opwright.__file__).parent / "_lib" / "aoc"
    _, source = GROUPS["element_add"]
    (tmp_path / "add.cpp").write_text(source)
    path = tmp_path / "libadd.so"
    subprocess.run([aoc, "-kernel", tmp_path / "add.cpp", "-o", path], check=True)
    op = opwright.load(path).element_add
    said = set()
    for value in (torch.ones(1), np.ones(1, np.float32), torch.nn.Parameter(torch.ones(1))):
        for call in (lambda v=value: op(v), lambda v=value: op(x=v)):
            with pytest.raises(opwright.RegistryError) as caught:
                call()
            assert caught.value.code == "RG003"
            said.add(str(caught.value))
    assert len(said) == 1


def test_compiled_calls_by_name_are_traced_whole(libraries):  # G22
    op = libraries("fused_broadcast").fused_broadcast
    x, b = torch.rand(2, 3), torch.rand(3)
    compiled = torch.compile(lambda x, b: op(s=2.0, b=b, x=x), fullgraph=True, backend="eager")
    assert torch.equal(compiled(x, b), op(x, b, 2.0))
    linear = libraries("inputs").linear
    compiled = torch.compile(lambda x, w: linear(x=x, w=w), fullgraph=True, backend="eager")
    assert torch.equal(compiled(x, torch.eye(3)), x)


def test_a_missing_input_is_said_while_tracing_too(libraries):
    op = libraries("element_add").element_add
    with pytest.raises(Exception, match="input y is required and was not given"):
        torch.compile(lambda x: op(x), backend="eager")(torch.ones(3))


@pytest.mark.parametrize("how", ["call", "meta", "compiled"])
@pytest.mark.parametrize("dtype", ["float8_e4m3fn", "complex32", "bits8", "uint4"])
def test_a_dtype_of_pytorchs_own_has_its_name(libraries, dtype, how):
    square = libraries("elementwise").square
    x = torch.empty(2, dtype=getattr(torch, dtype))
    words = f"square: dtype {dtype} of input x is none that a metadef lists; convert it"
    with pytest.raises(RuntimeError, match=words) as caught:
        if how == "compiled":
            torch.compile(lambda x: square(x), backend="aot_eager", fullgraph=True)(x)
        else:
            square(x if how == "call" else x.to("meta"))
    assert how == "compiled" or caught.value.code == "CL002"


@pytest.mark.parametrize("words", ["boom [ZZ999]", "boom [CL999]", "boom"])
def test_an_error_of_others_stays_theirs(libraries, words):
    class Failing(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            raise RuntimeError(words)

    with pytest.raises(RuntimeError) as caught:
        libraries("elementwise").square(torch.ones(2).as_subclass(Failing))
    assert type(caught.value) is RuntimeError and str(caught.value) == words

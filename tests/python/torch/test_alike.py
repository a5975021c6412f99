# SPDX-License-Identifier: Apache-2.0
"""Odd tensors and odd values of attributes: the same answer by every route."""

import array
import collections
import decimal
import fractions

import numpy as np
import pytest
import torch
from torch._subclasses import FakeTensorMode

import opwright

X = torch.arange(1.0, 4.0)
ROUTES = {"lib.op": lambda op: op, "torch.ops": lambda op: op._calls[torch.Tensor]._overload}
EVERY = pytest.mark.parametrize("route", ROUTES)

UNUSABLE = {
    "sparse_coo": (lambda: X.to_sparse(), r"sparse_coo.*to_dense\(\)"),
    "sparse_csr": (lambda: torch.eye(3).to_sparse_csr(), r"sparse_csr.*to_dense\(\)"),
    "mkldnn": (lambda: X.to_mkldnn(), r"mkldnn.*to_dense\(\)"),
    "quantized": (
        lambda: torch.quantize_per_tensor(X, 0.1, 0, torch.qint8),
        r"quantized.*dequantize\(\)",
    ),
    "nested": (
        lambda: torch.nested.nested_tensor([X, X], layout=torch.jagged),
        r"nested.*to_padded_tensor\(\)",
    ),
}


@EVERY
@pytest.mark.parametrize("kind", UNUSABLE)
@pytest.mark.filterwarnings("ignore")
def test_tensors_without_plain_memory_are_refused_with_the_cure(libraries, route, kind):
    made, words = UNUSABLE[kind]
    odd = made()
    add, total = libraries("element_add").element_add, libraries("inputs").sum_squares
    for call in (
        lambda: ROUTES[route](add)(X, odd),
        lambda: ROUTES[route](add)(X.clone().requires_grad_(), odd),
        lambda: torch.no_grad()(ROUTES[route](add))(X, odd),
    ):
        with pytest.raises(opwright.CallError, match=f"element_add: input y is {words}") as caught:
            call()
        assert caught.value.code == "CL007"
    with pytest.raises(opwright.CallError, match=f"sum_squares: input xs is {words}"):
        ROUTES[route](total)([X, odd])


@EVERY
def test_sparse_tensors_are_refused_by_operators_that_write_inputs(libraries, route):
    op, sums = libraries("effects").accumulate, X.double()
    with pytest.raises(opwright.CallError, match=r"input x is sparse_coo.*\[CL007\]"):
        ROUTES[route](op)(sums, X.double().to_sparse())


@EVERY
@pytest.mark.parametrize("by", ["backward operator", "rule"])
def test_a_sparse_cotangent_gives_the_dense_gradient(libraries, route, by):
    op = libraries("fused_broadcast").fused_broadcast
    x, b, s = torch.ones(3, 3, requires_grad=True), X.clone(), X.clone()
    cotangent = torch.diag(torch.tensor([2.0, 0.0, 5.0]))
    if by == "rule":
        op.bprop(lambda x, b, s, out, dout: (dout * s, None, None))
    try:
        ROUTES[route](op)(x, b, s).backward(cotangent.to_sparse())
    finally:
        op.bprop(None)
    assert x.grad.layout is torch.strided
    assert torch.equal(x.grad, cotangent * s)


def test_a_sparse_cotangent_of_an_operator_with_lists(libraries):
    x = X.double().requires_grad_()
    libraries("inputs").sum_squares([x]).backward(
        torch.tensor([0.0, 2.0, 0.0]).double().to_sparse()
    )
    assert x.grad.tolist() == [0, 8, 0]


OUTS = {
    "expanded": (lambda: torch.empty(1).expand(3), "CL008", "several elements in one place"),
    "overlapping": (
        lambda: torch.empty(4).as_strided((2, 3), (1, 1)),
        "CL008",
        "several elements in one place",
    ),
    "meta": (lambda: torch.empty(3, device="meta"), "CL007", "on device meta, cpu is due"),
    "sparse": (lambda: torch.zeros(3).to_sparse(), "CL008", r"sparse_coo.*to_dense\(\)"),
}


@pytest.mark.parametrize("kind", OUTS)
def test_an_out_that_cannot_be_written_is_refused(libraries, kind):
    make, code, words = OUTS[kind]
    out = make()
    x = X.expand(out.shape)
    with pytest.raises(opwright.Error, match=f"element_add: output z .*{words}") as caught:
        libraries("element_add").element_add(x, x, out=out)
    assert caught.value.code == code


@pytest.mark.parametrize("device", ["meta", "cuda"])
def test_an_out_on_another_device_is_refused_before_the_kernel_runs(libraries, device):
    with FakeTensorMode():
        out = torch.empty(3, device=device)
    words = f"output z is on device {device}.*, cpu is due"
    for inputs in ((X, X), (X, X[:2])):  # the kernel's own checks would refuse the second
        with pytest.raises(opwright.Error, match=words) as caught:
            libraries("element_add").element_add(*inputs, out=out)
        assert caught.value.code == "CL007"


def test_an_out_of_inputs_without_data_has_none(libraries):
    add, x = libraries("element_add").element_add, X.to("meta")
    out = torch.empty(3, device="meta")
    assert add(x, x, out=out) is out
    with pytest.raises(opwright.Error, match=r"output z is on device cpu, meta is due.*CL007"):
        add(x, x, out=X.clone())


def test_an_out_of_more_dimensions_than_any_operator_has_is_refused(libraries):
    x = X.expand(3)
    with pytest.raises(opwright.ShapeError, match="CL008"):
        libraries("element_add").element_add(x, x, out=torch.empty(1).expand([2] * 40))


def test_an_expanded_out_has_the_words_of_numpys_calls(libraries):
    op, x = libraries("element_add").element_add, X.numpy()
    repeated = np.lib.stride_tricks.as_strided(np.empty(1, "f4"), (3,), (0,), writeable=True)
    said = []
    for call in (lambda: op(x, x, out=repeated), lambda: op(X, X, out=torch.empty(1).expand(3))):
        with pytest.raises(opwright.ShapeError) as caught:
            call()
        said.append(str(caught.value))
    assert said[0] == said[1]


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_strided_out_is_written_by_a_compiled_function(libraries, dynamic):
    op = libraries("element_add").element_add
    run = torch.compile(
        lambda x, out: op(x, x, out=out), fullgraph=True, backend="aot_eager", dynamic=dynamic
    )
    whole = torch.zeros(6)
    run(X, whole[::2])
    assert whole.tolist() == [2, 0, 4, 0, 6, 0]


MASKED = np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0], dtype=np.float32)


def test_masked_arrays_are_refused_and_unmasked_ones_taken(libraries):
    op, x = libraries("element_add").element_add, X.numpy()
    for call in (lambda: op(MASKED, x), lambda: op(x, MASKED), lambda: op(y=MASKED, x=x)):
        with pytest.raises(opwright.CallError, match=r"has masked elements.*filled\(value\)") as e:
            call()
        assert e.value.code == "CL007"
    with pytest.raises(opwright.ShapeError, match="CL008"):
        op(x, x, out=MASKED.copy())
    with pytest.raises(opwright.DTypeError, match="CL013"):
        op(X, MASKED)
    assert op(np.ma.masked_array(x), x).tolist() == [2, 4, 6]
    assert op(MASKED.filled(0), x).tolist() == [2, 2, 6]


class Index:
    def __index__(self):
        return 3


REQUIRED = {"count": 1, "label": "four", "rows": [[1]]}
# The value given and the plain one that it stands for.
TAKEN = [
    ("flag", np.True_, True),
    ("flag", np.array(False), False),
    ("masks", np.array([True, False]), [True, False]),
    ("masks", [np.True_, True], [True, True]),
    ("steps", range(3), [0, 1, 2]),
    ("steps", range(6, 0, -2), [6, 4, 2]),
    ("weights", range(3), [0, 1, 2]),
    ("weights", np.ma.masked_array([1.0, 2.0]), [1.0, 2.0]),
    ("rows", [range(2), (3,)], [[0, 1], [3]]),
    ("rows", [np.array([1, 2]), [3]], [[1, 2], [3]]),
    ("ratio", np.array(2.0), 2.0),
    ("names", np.array(["a", "bc"]), ["a", "bc"]),
    ("label", np.str_("abc"), "abc"),
]
REFUSED = [
    ("count", np.True_),
    ("count", Index()),
    ("count", np.uint64(2**63)),
    ("ratio", np.True_),
    ("ratio", np.ones(1)),
    ("ratio", np.complex64(1)),
    ("ratio", decimal.Decimal("1.5")),
    ("ratio", fractions.Fraction(1, 2)),
    ("ratio", np.ma.masked),
    ("flag", np.int64(1)),
    ("steps", {1, 2}),
    ("steps", {1: 2}),
    ("steps", b"ab"),
    ("steps", array.array("i", [1])),
    ("steps", collections.deque([1])),
    ("steps", np.ma.masked_array([1, 2], mask=[0, 1])),
    ("weights", np.ma.masked_array([1.0, 2.0], mask=[0, 1])),
    ("rows", range(3)),
    ("rows", np.array([[1.5]])),
    ("kind", None),
    ("kind", 3.5),
]


def tells(libraries, **given):
    """The answers on numpy arrays and on torch tensors, or the words of the refusals."""
    tell = libraries("attributes").tell
    answers = []
    for x in (np.ones(1), torch.ones(1, dtype=torch.float64)):
        try:
            answers.append(tell(x, **{**REQUIRED, **given}).tolist())
        except opwright.DTypeError as error:
            answers.append(str(error))
    return answers


@pytest.mark.parametrize(("name", "given", "plain"), TAKEN, ids=str)
def test_values_of_attributes_are_taken_alike(libraries, name, given, plain):  # D09
    due = tells(libraries, **{name: plain})
    assert isinstance(due[0], list) and due[0] == due[1]
    assert tells(libraries, **{name: given}) == due


@pytest.mark.parametrize(("name", "given"), REFUSED, ids=str)
def test_values_of_attributes_are_refused_alike(libraries, name, given):  # D09
    on_numpy, on_torch = tells(libraries, **{name: given})
    assert on_numpy == on_torch
    assert on_numpy.startswith(f"tell: attribute {name} is ")
    assert on_numpy.endswith("[CL006]") and "was given" in on_numpy

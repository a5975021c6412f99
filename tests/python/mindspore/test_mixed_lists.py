# SPDX-License-Identifier: Apache-2.0
"""Lists of several float dtypes: promoted alike in every mode."""

import itertools

import mindspore as ms
import numpy as np
import pytest
from calls import wide
from mindspore import Tensor
from modes import FORWARD, MODES, array, close, forward, gradient
from operator_libraries import write_operator
from sources.describe import HEADER, metadef, param

import opwright
from opwright.mindspore import Custom

FLOATS = ["float16", "float32", "float64"]
METADEFS = [
    # y = sum_k (k + 1) x_k, in the dtype that holds all.
    metadef(
        "total",
        [param("xs", FLOATS, ["n"], "dynamic"), param("w", FLOATS, ["n"], "optional")],
        [param("y", FLOATS, ["n"])],
        shape_rule=["n"],
        gradient="total_grad",
    ),
    metadef(
        "total_grad",
        [param("xs", FLOATS, ["n"], "dynamic"), param("w", FLOATS, ["n"], "optional"),
         param("grad_y", FLOATS, ["n"])],
        [param("grad_xs", FLOATS, ["n"], "dynamic"), param("grad_w", FLOATS, ["n"], "optional")],
        shape_rule="forward",
    ),
    metadef(
        "strict",
        [param("xs", FLOATS, ["n"], "dynamic")],
        [param("y", FLOATS, ["n"])],
        shape_rule=["n"],
        mixed_dtypes="error",
    ),
]  # fmt: skip
SOURCE = (
    HEADER
    + """
template <class T>
void Total(ViewList<const T> xs, View<const T> w, View<T> y) {
  for (int64_t i = 0; i < y.Size(); ++i) {
    double sum = w ? static_cast<double>(w.Data()[i]) : 0;
    for (int64_t k = 0; k < xs.Size(); ++k)
      sum += static_cast<double>(k + 1) * static_cast<double>(xs[k].Data()[i]);
    y.Data()[i] = static_cast<T>(sum);
  }
}
OPWRIGHT_FUNCTION(total, Total)
template <class T>
void TotalGrad(ViewList<const T> xs, View<const T> w, View<const T> dy, ViewList<T> dxs,
               View<T> dw) {
  for (int64_t k = 0; k < xs.Size(); ++k)
    for (int64_t i = 0; i < dy.Size(); ++i)
      dxs[k].Data()[i] = static_cast<T>(static_cast<double>(k + 1) *
                                        static_cast<double>(dy.Data()[i]));
  if (dw)
    for (int64_t i = 0; i < dy.Size(); ++i) dw.Data()[i] = dy.Data()[i];
}
OPWRIGHT_FUNCTION(total_grad, TotalGrad)
template <class T>
void Strict(ViewList<const T> xs, View<T> y) {
  for (int64_t i = 0; i < y.Size(); ++i) y.Data()[i] = xs[0].Data()[i];
}
OPWRIGHT_FUNCTION(strict, Strict)
"""
)
DTYPES = {"h": ms.float16, "f": ms.float32, "d": ms.float64}
LARGE = {"h": 1.0, "f": 1e6, "d": 1 / 3}
KINDS = ["".join(each) for each in itertools.product("hfd", repeat=2)] + ["hfd", "ffd", "dfd"]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mixed") / "operators"
    return opwright.load(opwright.build(write_operator(folder, METADEFS, SOURCE)))


def tensors(kinds):
    return tuple(Tensor([LARGE[kind], 2.0], DTYPES[kind]) for kind in kinds)


def widest(kinds):
    return DTYPES[max(kinds, key="hfd".index)]


@pytest.mark.parametrize("mode", FORWARD)
@pytest.mark.parametrize("how", ["load", "Custom"])
def test_lists_are_promoted(library, how, mode):
    op = Custom(library.total) if how == "Custom" else library.total
    rest = (None,) if how == "Custom" else ()

    def two(x, y):
        return op([x, y], *rest)

    def three(x, y, z):
        return op((x, y, z), *rest)

    for kinds in KINDS:
        given = tensors(kinds)
        made = forward(two if len(kinds) == 2 else three, given, mode)
        assert made.dtype == widest(kinds), kinds
        close(made, sum((k + 1) * wide(x) for k, x in enumerate(given)))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bprop", [False, True])
def test_each_tensor_has_a_gradient_of_its_own_dtype(library, bprop, mode):
    def rule(xs, w, out, dout):
        return [dout, dout * 2], dout

    op = Custom(library.total, bprop=rule) if bprop else library.total

    def loss(x, y, w):
        return (op([x, y], w) * 3).sum()

    for kinds in ("hff", "fhd", "fdh", "ddf", "ffd"):
        given = tensors(kinds)
        made = gradient(loss, given, None, mode)
        assert [each.dtype for each in made] == [DTYPES[kind] for kind in kinds]
        close(made, [np.full(2, 3.0), np.full(2, 6.0), np.full(2, 3.0)])


@pytest.mark.parametrize("mode", FORWARD)
def test_a_list_beside_a_tensor_of_another_dtype(library, mode):
    def call(x, y, w):
        return library.total([x, y], w)

    for kinds in ("hhd", "hfd", "fhh", "dhf"):
        given = tensors(kinds)
        made = forward(call, given, mode)
        assert made.dtype == widest(kinds)
        close(made, wide(given[0]) + 2 * wide(given[1]) + wide(given[2]))


@pytest.mark.parametrize("mode", FORWARD)
def test_what_may_not_be_mixed_is_refused(library, mode):
    def strict(x, y):
        return library.strict([x, y])

    def integers(x, y):
        return library.total([x, y])

    with pytest.raises(opwright.DTypeError, match=r"strict: .*\[CL003\]"):
        forward(strict, tensors("hf"), mode)
    numbers = Tensor([1.0, 2.0], ms.float32), Tensor([1, 2], ms.int32)
    with pytest.raises(opwright.DTypeError, match=r"total: .*int32.*\[CL00[23]\]"):
        forward(integers, numbers, mode)


def test_a_parameter_and_what_is_computed(library):
    class Net(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(Tensor([1.0, 2.0], ms.float16), name="w")

        def construct(self, x):
            return library.total([self.w, x * 2, self.w * x]).sum()

    x = Tensor([1e5, 2.0], ms.float64)
    for mode in (ms.PYNATIVE_MODE, ms.GRAPH_MODE):
        ms.set_context(mode=mode)
        net = Net()
        close(net(x), np.sum(array(net.w) + 4 * wide(x) + 3 * array(net.w) * wide(x)))

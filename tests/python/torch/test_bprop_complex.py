# SPDX-License-Identifier: Apache-2.0
"""Python rules over complex inputs and outputs, held against PyTorch's own gradients."""

import pytest
import torch
from calls import assert_same
from operator_libraries import write_operator

import opwright

COMPLEX, FLOAT = ["complex64", "complex128"], ["float32", "float64"]


def tensor(name, dtypes):
    return {"name": name, "dtype": dtypes, "shape": [-2]}


# y = x * x * w and z = x + w, w real.
METADEF = {
    "op_name": "turned",
    "input_desc": [tensor("x", COMPLEX), tensor("w", FLOAT)],
    "output_desc": [tensor("y", COMPLEX), tensor("z", COMPLEX)],
    "shape_rule": "broadcast(x, w)",
}
SOURCE = """#include <opwright/kernel.h>
template <class C, class F>
void Run(const opwright::OpKernelInput& in, opwright::OpKernelOutput* out) {
  const auto &x = in.GetTensor(0), &w = in.GetTensor(1);
  auto *y = out->GetTensor(0), *z = out->GetTensor(1);
  for (int64_t i = 0; i < y->Size(); ++i) {
    const C a = x.Data<C>()[i % x.Size()];
    const F b = w.Data<F>()[i % w.Size()];
    y->Data<C>()[i] = a * a * b;
    z->Data<C>()[i] = a + b;
  }
}
class TurnedKernel : public opwright::OpKernelBase {
 public:
  opwright::Status Compute(const opwright::OpKernelInput& in,
                           opwright::OpKernelOutput* out) override {
    if (in.GetTensor(0).DType().bits == 64)
      Run<float _Complex, float>(in, out);
    else
      Run<double _Complex, double>(in, out);
    return opwright::SUCCESS;
  }
};
"""


def native(x, w):
    return x * x * w, x + w


def exact(x, w, out, dout):
    """The gradients as PyTorch takes them: the conjugate ones."""
    dy, dz = dout
    for_w = (dy * (x * x).conj() + dz).real
    return dy * (2 * x * w).conj() + dz, for_w


def draw(*shape, dtype=torch.complex128):
    return torch.randn(shape, dtype=dtype, requires_grad=True)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = write_operator(tmp_path_factory.mktemp("turned") / "turned", METADEF, SOURCE)
    torch.manual_seed(3)
    return opwright.load(folder).turned


@pytest.fixture
def op(built):
    yield built
    built.bprop(None)


@pytest.mark.parametrize(("x", "w"), [((2, 3), (2, 3)), ((3,), (2, 3)), ((2, 3), (3,)), ((0,), ())])
def test_gradcheck_of_a_rule_over_complex_numbers(op, x, w):
    op.bprop(exact)
    inputs = draw(*x), draw(*w, dtype=torch.float64)
    assert_same(op(*inputs), native(*inputs))
    assert torch.autograd.gradcheck(op, inputs)
    assert torch.autograd.gradgradcheck(op, inputs)


def test_a_complex_gradient_is_cast_among_complex_dtypes(op):
    for dtype, other in ((torch.complex64, torch.complex128), (torch.complex128, torch.complex64)):
        x, w = draw(2, dtype=dtype), torch.ones(2, dtype=dtype.to_real())
        op.bprop(lambda x, w, out, dout, other=other: ((dout[0] * 3j).to(other), None))
        op(x, w)[0].real.sum().backward()
        assert_same(x.grad, torch.full((2,), 3j, dtype=dtype))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64], ids=str)
def test_a_float_gradient_of_a_complex_input_is_cast(op, dtype):
    x, w = draw(2), torch.ones(2, dtype=torch.float64)
    op.bprop(lambda x, w, out, dout: (dout[0].real.to(dtype), None))
    op(x, w)[0].real.sum().backward()
    assert_same(x.grad, torch.ones(2, dtype=torch.complex128))


# PyTorch warns that it has few operators of complex32.
@pytest.mark.filterwarnings("ignore:ComplexHalf support is experimental")
def test_a_broadcast_complex_input_keeps_its_imaginary_part(op):
    x, w = draw(3), torch.ones(2, 3, dtype=torch.float64)
    for dtype in (torch.complex64, torch.complex128, torch.complex32):
        op.bprop(lambda x, w, out, dout, dtype=dtype: ((dout[0] * 3j).to(dtype), None))
        (grad,) = torch.autograd.grad(op(x, w)[0].real.sum(), x)
        assert_same(grad, torch.full((3,), 6j, dtype=torch.complex128))


@pytest.mark.parametrize("used", [0, 1])
def test_the_cotangent_of_an_unused_complex_output_is_zeros(op, used):
    op.bprop(exact)
    x, w = draw(2, 3), draw(2, 3, dtype=torch.float64)
    made = torch.autograd.grad(op(x, w)[used].abs().sum(), (x, w))
    assert_same(made, torch.autograd.grad(native(x, w)[used].abs().sum(), (x, w)))


def test_a_rule_over_complex_numbers_is_compiled(op):
    op.bprop(exact)
    torch._dynamo.reset()
    x, w = draw(2, 3), draw(2, 3, dtype=torch.float64)
    compiled = torch.compile(op, fullgraph=True, backend="aot_eager")
    made = torch.autograd.grad(sum(t.abs().sum() for t in compiled(x, w)), (x, w))
    assert_same(made, torch.autograd.grad(sum(t.abs().sum() for t in native(x, w)), (x, w)))


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        (
            lambda x, w, out, dout: (x.real.long(), w),
            "x is dtype torch.int64, a float or complex t",
        ),
        (lambda x, w, out, dout: (1j, w), "input x is a complex, a float or complex tensor is due"),
        (lambda x, w, out, dout: (x, x), "w is dtype torch.complex128, a float tensor is due"),
    ],
)
def test_what_is_no_gradient_is_refused(op, rule, words):
    op.bprop(rule)
    with pytest.raises(opwright.GradientError, match=words) as caught:
        op(draw(2), draw(2, dtype=torch.float64))[0].abs().sum().backward()
    assert caught.value.code == "GR006"

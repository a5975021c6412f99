# SPDX-License-Identifier: Apache-2.0
"""Which dtype column a backward operator takes, and inputs that it gives no gradient for."""

import copy
import pickle
import threading

import pytest
import torch
from calls import assert_same, draw
from operator_libraries import write_operator

import opwright

# y = x * w with w in float32 always. The backward operator gives no gradient for w, and writes into
# grad_x how wide the cotangent was that reached it.
METADEFS = [
    {
        "op_name": "telling",
        "input_desc": [
            {"name": "x", "dtype": ["float16", "float32", "complex64"], "shape": [-2]},
            {"name": "w", "dtype": ["float32"], "shape": [-2]},
        ],
        "output_desc": [{"name": "y", "dtype": ["float16", "float32", "complex64"], "shape": [-2]}],
        "shape_rule": "same(x, w)",
        "gradient": "telling_grad",
    },
    {
        "op_name": "telling_grad",
        "input_desc": [
            {"name": "x", "dtype": ["float16", "float16", "float32", "complex64"], "shape": [-2]},
            {
                "name": "grad_y",
                "dtype": ["float16", "float32", "float32", "complex64"],
                "shape": [-2],
            },
        ],
        "output_desc": [
            {
                "name": "grad_x",
                "dtype": ["float32", "float32", "float32", "complex64"],
                "shape": [-2],
            }
        ],
        "shape_rule": "same(x)",
    },
]
SOURCE = """#include <opwright/kernel.h>
class TellingKernel : public opwright::OpKernelBase {
 public:
  opwright::Status Compute(const opwright::OpKernelInput&, opwright::OpKernelOutput* out) override {
    auto* y = out->GetTensor(0);
    const auto bytes = static_cast<size_t>(y->Size() * y->DType().bits / 8);
    if (y->DType().bits == 16) memset(y->Data<opwright::float16>(), 0, bytes);
    if (y->DType().bits == 32) memset(y->Data<float>(), 0, bytes);
    if (y->DType().bits == 64) memset(y->Data<float _Complex>(), 0, bytes);
    return opwright::SUCCESS;
  }
};
class TellingGradKernel : public opwright::OpKernelBase {
 public:
  opwright::Status Compute(const opwright::OpKernelInput& in,
                           opwright::OpKernelOutput* out) override {
    auto* grad = out->GetTensor(0);
    const float wide = in.GetTensor(1).DType().bits;
    for (int64_t i = 0; i < grad->Size(); ++i) {
      if (grad->DType().bits == 64)
        grad->Data<float _Complex>()[i] = wide;
      else
        grad->Data<float>()[i] = wide;
    }
    return opwright::SUCCESS;
  }
};
"""


@pytest.fixture(scope="module")
def telling(tmp_path_factory):
    folder = write_operator(tmp_path_factory.mktemp("telling") / "telling", METADEFS, SOURCE)
    return opwright.load(folder).telling


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.complex64], ids=str)
def test_the_column_with_the_widest_cotangent_is_taken(telling, dtype):  # D03 D07
    x = draw(3, dtype=torch.float32).to(dtype).requires_grad_()
    y = telling(x, draw(3, dtype=torch.float32))
    y.backward(torch.ones_like(y))
    assert x.grad.dtype == dtype
    assert_same(x.grad, torch.full((3,), 64 if dtype == torch.complex64 else 32, dtype=dtype))


def test_an_input_without_a_gradient_is_an_error_when_one_is_due(telling):
    x = draw(3, dtype=torch.float32).requires_grad_()
    w = draw(3, dtype=torch.float32)
    telling(x, w).sum().backward()
    y = telling(x, w.requires_grad_())
    with pytest.raises(
        opwright.GradientError, match=r"telling_grad gives no gradient for input w.*GR002"
    ):
        y.sum().backward()


def test_threads_call_and_differentiate_at_once(libraries):
    fused = libraries("fused_broadcast").fused_broadcast
    failures = []

    def work(seed):
        try:
            x, b, s = (
                torch.full(shape, float(seed), requires_grad=True)
                for shape in ((40, 3), (3,), (40, 1))
            )
            for _ in range(50):
                made = torch.autograd.grad(fused(x, b, s).sum(), (x, b, s))
                assert_same(made, torch.autograd.grad(((x + b) * s).sum(), (x, b, s)))
        except BaseException as error:  # a thread's failure is the test's
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_operators_and_modules_are_copied_and_pickled(libraries):
    fused = libraries("fused_add_scale").fused_add_scale
    layer = opwright.torch.Module(fused, {"bias": torch.ones(4), "scale": torch.ones(4)})
    x = draw(2, 4, dtype=torch.float32)
    for other in (copy.deepcopy(layer), copy.copy(layer), pickle.loads(pickle.dumps(layer))):
        assert_same(other(x), layer(x))
    other = copy.deepcopy(layer)
    assert other.bias is not layer.bias
    assert other.operator.key == fused.key
    assert pickle.loads(pickle.dumps(fused)).key == fused.key


def test_a_pickled_operator_whose_library_is_gone_says_which(run_python, tmp_path):  # P05
    path = tmp_path / "libtelling.so"
    opwright.build(write_operator(tmp_path / "telling", METADEFS, SOURCE), path)
    stored = tmp_path / "operator.pickle"
    stored.write_bytes(pickle.dumps(opwright.load(path).telling))
    code = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb')).name)"
    assert run_python(code, stored).stdout.strip() == "telling"
    path.unlink()
    missing = run_python(code, stored, status=1).stderr
    assert "libtelling.so" in missing
    assert "telling" in missing

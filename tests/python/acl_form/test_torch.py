# SPDX-License-Identifier: Apache-2.0
"""acl.ops on torch tensors: in an autograd.Function, by itself, compiled."""

import json
import subprocess
from pathlib import Path

import pytest

import opwright


def test_a_call_inside_an_autograd_function_works_with_any_backward(run):
    run("""
        import torch
        class ElementAdd(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, y):
                return acl.ops.element_add(x, y)
            @staticmethod
            def backward(ctx, grad_output):
                return grad_output, grad_output
        register()
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = torch.tensor([10.0, 20.0], requires_grad=True)
        z = ElementAdd.apply(x, y)
        assert z.tolist() == [11, 22] and z.requires_grad
        (z * torch.tensor([3.0, 4.0])).sum().backward()
        assert x.grad.tolist() == y.grad.tolist() == [3, 4]
    """)


def test_a_registered_gradient_differentiates_in_distinct_memory(run):
    run("""
        import torch
        register()
        x = torch.tensor([1.0, 2.0], requires_grad=True)
        y = torch.tensor([10.0, 20.0], requires_grad=True)
        acl.ops.element_add(x, y).sum().backward()
        x.grad.mul_(0)
        assert y.grad.tolist() == [1, 1]
    """)


def test_torch_imported_after_the_registration_takes_the_operator(run):
    run("""
        register()
        operator = acl.ops.element_add
        import torch
        x = torch.ones(2, requires_grad=True)
        operator(x, x.detach()).sum().backward()
        assert x.grad.tolist() == [1, 1]
    """)


# M11
def test_a_gradient_registered_after_the_first_torch_call_is_used(run):
    run("""
        import torch
        acl.init(), acl.ops.load_operator_library(LIBRARY), acl.op.register_operator("element_add")
        acl.op.register_operator_model("element_add", ADD, "element_add")
        x = torch.ones(2, requires_grad=True)
        z = acl.ops.element_add(x, x.detach())
        try:
            z.sum().backward()
            raise SystemExit("no error")
        except opwright.GradientError as error:
            assert "register_operator_gradient" in str(error)
        assert acl.op.register_operator_gradient("element_add", GRAD) == 0
        acl.ops.element_add(x, x.detach()).sum().backward()
        assert x.grad.tolist() == [1, 1]
    """)


def test_a_registered_operator_can_be_unregistered_and_registered_again(run):
    run("""
        import torch
        register()
        x = torch.ones(2)
        old = acl.ops.element_add
        assert acl.op.unregister_operator("element_add") == 0
        assert register() == [0] * 6
        assert acl.ops.element_add is not old
        assert acl.ops.element_add(x, x).tolist() == old(x, x).tolist() == [2, 2]
    """)


def test_a_compiled_function_calls_the_operator_in_one_graph(run):
    run("""
        import torch
        register()
        operator = acl.ops.element_add
        def twice(x, y):
            return operator(x, y) * 2
        compiled = torch.compile(twice, fullgraph=True, backend="aot_eager")
        x = torch.ones(3, requires_grad=True)
        out = compiled(x, torch.ones(3))
        out.sum().backward()
        assert out.tolist() == [4, 4, 4] and x.grad.tolist() == [2, 2, 2]
    """)


AOC = Path(opwright.__file__).parent / "_lib" / "aoc"

# The gradient of x says whether that of bias was asked for.
OPTIONAL_BIAS = """
#include "acl/acl.h"
class BiasAddKernel : public OpKernelBase {
 public:
  Status Compute(const OpKernelInput& in, OpKernelOutput* out) override {
    const auto& x = in.GetTensor(0);
    const float bias = in.Has(1) ? in.GetTensor(1).Data<float>()[0] : 0;
    for (int64_t i = 0; i < x.Size(); ++i)
      out->GetTensor(0)->Data<float>()[i] = x.Data<float>()[i] + bias;
    return SUCCESS;
  }
};
class BiasAddGradKernel : public OpKernelBase {
 public:
  Status Compute(const OpKernelInput& in, OpKernelOutput* out) override {
    const auto& grad = in.GetTensor(0);
    auto* bias = out->GetTensor(1);
    for (int64_t i = 0; i < grad.Size(); ++i) {
      out->GetTensor(0)->Data<float>()[i] = (bias ? 2 : 1) * grad.Data<float>()[i];
      if (bias) bias->Data<float>()[i] = grad.Data<float>()[i];
    }
    return SUCCESS;
  }
};
"""


@pytest.fixture(scope="session")
def bias_add(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bias_add")
    (folder / "bias_add.cpp").write_text(OPTIONAL_BIAS)
    column = {"dtype": ["float32"], "format": ["ND"], "shape": ["n"], "param_type": "required"}
    optional = {**column, "param_type": "optional"}
    forward = {
        "op_name": "bias_add",
        "input_desc": [{**column, "name": "x"}, {**optional, "name": "bias"}],
        "output_desc": [{**column, "name": "y"}],
        "shape_rule": "same(x)",
    }
    backward = {
        "op_name": "bias_add_grad",
        "input_desc": [{**column, "name": "grad_y"}],
        "output_desc": [{**column, "name": "grad_x"}, {**optional, "name": "grad_bias"}],
        "shape_rule": "forward",
    }
    (folder / "op.json").write_text(json.dumps(forward))
    (folder / "grad.json").write_text(json.dumps(backward))
    words = ["-kernel", folder / "bias_add.cpp", "-o", folder / "libbias_add.so"]
    subprocess.run([AOC, *words], check=True)
    return folder


def test_an_optional_output_that_is_not_wanted_is_null_in_the_kernel(run, bias_add):
    run(
        """
        import torch
        acl.init()
        assert 0 == acl.ops.load_operator_library("libbias_add.so")
        assert 0 == acl.op.register_operator("bias_add")
        assert 0 == acl.op.register_operator_model("bias_add", "op.json", "bias_add")
        assert 0 == acl.op.register_operator_gradient("bias_add", "grad.json")
        bias_add = acl.ops.bias_add
        def gradient(*others):
            x = torch.ones(1000, requires_grad=True)
            bias_add(x, *others).sum().backward()
            return x.grad.unique().tolist()
        bias = torch.ones(1000, requires_grad=True)
        assert gradient(bias) == [2] and bias.grad.unique().tolist() == [1]
        assert gradient(bias.detach()) == [1], "frozen"
        assert gradient(None) == [1], "absent"
        assert gradient() == [1], "left out"
        """,
        cwd=bias_add,
    )


def test_odd_tensors_are_refused_as_by_other_routes(run):
    run("""
        import torch
        register()
        x = torch.ones(3)
        masked = np.ma.masked_array(x.numpy(), mask=[0, 1, 0])
        refused = [
            (lambda: acl.ops.element_add(x.to_sparse(), x), "CL007", "to_dense()"),
            (lambda: acl.ops.element_add(x, x, out=torch.empty(1).expand(3)), "CL008", "repeats"),
            (lambda: acl.ops.element_add(x, x, out=torch.empty(3, device="meta")), "CL007", "meta"),
            (lambda: acl.ops.element_add(masked, x.numpy()), "CL007", "masked elements"),
        ]
        for call, code, words in refused:
            try:
                call()
                raise SystemExit("no error")
            except opwright.Error as error:
                assert error.code == code and words in str(error), error
                assert acl.get_recent_err_msg().startswith(str(error))
        x.requires_grad_()
        acl.ops.element_add(x, x.detach()).backward(torch.tensor([0.0, 2.0, 0.0]).to_sparse())
        assert x.grad.tolist() == [0, 2, 0]
    """)


def test_an_operator_taken_before_its_gradient_was_registered_has_it_after(run):  # M11
    run("""
        import torch
        acl.init(), acl.ops.load_operator_library(LIBRARY), acl.op.register_operator("element_add")
        acl.op.register_operator_model("element_add", ADD, "element_add")
        early = acl.ops.element_add
        x, y = torch.ones(2, requires_grad=True), torch.ones(2)
        compiled = torch.compile(lambda x: early(x, y).sum(), backend="aot_eager")
        compiled(x.detach())
        acl.op.register_operator_gradient("element_add", GRAD)
        for call in (lambda x: early(x, y).sum(), compiled):
            (grad,) = torch.autograd.grad(call(x), x)
            assert grad.tolist() == [1, 1]
    """)
